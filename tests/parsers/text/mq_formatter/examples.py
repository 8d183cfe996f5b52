"""What the formatter printed with `-g yes` of the two records of `mq_composed`, a busy minute of MQ5A."""

from __future__ import annotations

from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

from tests.parsers.smf.mq_composed import TABLES
from tests.parsers.text.reading import Reading, in_turn, read_reports

from zscope.parsers.text.captured_report import CapturedReport, Origin, ReportSource
from zscope.parsers.text.mq_formatter.formatter_files import MqFormatter

if TYPE_CHECKING:
    from collections.abc import Iterable

Row = dict[str, Any]
TASKS = (
    "Task_Number,Task_Index,Request_Count,Task_CPU_Time(S),Task_CPU_Time(US),Task_Elapsed_Time(S),"
    "Task_Elapsed_Time(US),Task_Wait_Time(S),Task_Wait_Time(US),"
)
LEAD = "Date,Time,LPAR,QMgr,QSG,MQ_Version,"
INTERVAL = "Interval_Start (DATE),Interval_Start (TIME),Interval_Duration,"
SSL = (
    f"{LEAD}{INTERVAL}{TASKS}Max_SSL_Request_Time (DATE),Max_SSL_Request_Time (TIME),"
    "Max_SSL_Request_Duration(S),Max_SSL_Request_Duration(US),"
)
_WRITTEN = '"2026/03/02","08:30:00,000000","SYS1","MQ5A","QSG1",="100000",'
_BEGAN = '"2026/03/02","08:29:00,000000",60,'
BUSY = (
    f"{_WRITTEN}{_BEGAN}10244624,0,24400,1, 954000 ,8, 882000 ,51, 118000 ,"
    '"2026/03/02","13:29:41,134500",0, 11204 ,'
)
IDLE = f'{_WRITTEN}{_BEGAN}10244072,1,0,0, 0 ,0, 0 ,60, 0 ,"","",0, 0 ,'
ADAPTER = f"{LEAD}{INTERVAL}{TASKS}"
ADAPTER_LINE = f"{_WRITTEN}{_BEGAN}10291200,0,20110,0, 402300 ,0, 611870 ,59, 388130 ,"
CHANNEL = (
    f"{LEAD}Collection_Time (DATE),Collection_Time (TIME),Chl_Name,Disposition,Type,Status,Stat_Setting,"
    "Connection_Name,Start (DATE),Start (TIME),Stop (DATE),Stop (TIME),Last_Msg (DATE),"
    "Last_Msg (TIME),BatchSize,Msg_All_Count,Msg_Persistent_Count,Batches,Full_Batches,Buffers_Sent,"
    "Buffers_Rcvd,Current_Shared_Convs,Number_Bytes,Number_Persistent_Bytes,Bytes_Sent,"
    "Bytes_Received,Compression_Rate,Exit_Time_Avg,Exit_Time_Min,Exit_Time_Max,"
    "Exit_Time_Max_Date (DATE),Exit_Time_Max_Date (TIME),DNS_Resolution_Time,Net_Time_Avg,"
    "Net_Time_Min,Net_Time_Max,Net_Time_Max_Date (DATE),Net_Time_Max_Date (TIME),Remote_QMgr_Or_App,"
    "SSL_Peer_Serial,SSL_CERTI,SSL_CipherSuite,Put_Retry_Count,XmitQ_Empty_Count,Batch_Interval,"
    "Batch_Data_Limit,Dispatcher_Number,Remote_Product_ID,Remote_Product_Version,"
)
RUNNING = (
    f'{_WRITTEN}"2026/03/02","13:30:00,000000","MQ5A.TO.MQ5B        ","Private","Sender","Running","Medium",'
    '"10.1.2.3                                        ","2026/03/02","11:59:59,799296","","","2026/03/02",'
    '"13:29:58,917120",50,12200,12200,12200,0,24420,12210,0,99942400,99942400,104858100,488400,0,0,0,0,"","",0,'
    '180,151,2210,"2026/03/02","13:29:41,000000","MQ5B                                            ",'
    '="0000000000001A2B","MQ5B            ",49192,0,12100,0,5000,0,"MQMV",="10000000",'
)


def read_csv(*files: Iterable[str], zone: tzinfo | None = UTC) -> Reading:
    """What the grammar makes of these lines, each group of which begins with names of columns."""
    reports = [CapturedReport("mq", lines, Origin(ReportSource.CSV)) for lines in in_turn(*files)]
    return read_reports(lambda sheet: MqFormatter(sheet, zone), TABLES, reports)
