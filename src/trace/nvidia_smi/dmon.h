// What `nvidia-smi dmon` prints, with any of its selections (-s pucvmet) and times (-o DT): a row a device
// and moment, below lines that name columns and units and come again and again.
//
//   #Date       Time        gpu    pwr  gtemp  mtemp     sm    mem   mclk   pclk  rxpci  txpci
//   #YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %    MHz    MHz   MB/s   MB/s
//    20250613   00:27:52      0     71     31      -     98      0   2619    345    116     20
#pragma once

#include "trace/importer.h"

namespace deepgap::trace {

const Importer& nvidia_smi_dmon_importer();

}  // namespace deepgap::trace
