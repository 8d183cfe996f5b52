"""AT-TLS inputs, composed by hand after the documented forms; all names and addresses are invented."""

from __future__ import annotations

PASEARCH = """\
TCP/IP pasearch CS 3.1                    Image Name: TCPPRD
  Date:                 03/03/2026        Time:  09:41:07
  TTLS Instance Id:     1772527267

policyRule:             PAYIN_RULE
  Rule Type:            TTLS
  Version:              3                 Status:            Active
  Weight:               400               ForLoadDist:       False
  Priority:             400               Sequence Actions:  Don't Care
  No. Policy Action:    2
  policyAction:         PAYIN_GRP
   ActionType:          TTLS Group
   Action Sequence:     0
  policyAction:         PAYIN_ENV
   ActionType:          TTLS Environment
   Action Sequence:     0
  Time Periods:
   First to Last:       1111111111111111111111111111111
   Last to First:       1111111111111111111111111111111
   Month of Yr Mask:    111111111111
   Day of Week Mask:    0111110 (Sunday - Saturday)
   Start Date Time:     None
   End Date Time:       None
   Fr TimeOfDay:        00:00             To TimeOfDay:      24:00
   TimeZone:            Local
  TTLS Condition Summary:                 NegativeIndicator: Off
   Local Address:
    FromAddr:           10.20.30.0
    ToAddr:             10.20.30.255
   Remote Address:
    FromAddr:           All
    ToAddr:             All
   LocalPortFrom:       8443              LocalPortTo:       8443
   RemotePortFrom:      0                 RemotePortTo:      0
   JobName:             PAY*              UserId:
   ServiceDirection:    Inbound
  Policy created:       Tue Mar  3 09:41:07 2026
  Policy updated:       Tue Mar  3 09:41:07 2026

  TTLS Action:                  PAYIN_GRP
    Version:                    3
    Status:                     Active
    Scope:                      Group
    TTLSEnabled:                On
    Trace:                      7

  TTLS Action:                  PAYIN_ENV
    Version:                    3
    Status:                     Active
    Scope:                      Environment
    HandshakeRole:              Server
    TTLSKeyringParms:
     Keyring:                   PAYRING
    TTLSEnvironmentAdvancedParms:
     TLSv1.2:                   On
     TLSv1.3:                   Off
     ClientExtendedMasterSecret: On
    TTLSCipherParms:
     v3CipherSuites:
      1301  TLS_AES_128_GCM_SHA256
      C02F  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
    TTLSSignatureParms:
     ClientECurves:
      0021  secp224r1
      0023  secp256r1
      0024  secp384r1
      0025  secp521r1
      0019  secp192r1
    TTLSGskAdvancedParms:
     GSK_V3_SESSION_TIMEOUT:                    3600
     TTLSGskHttpCdpParms:
      HttpCdpEnable:            Off
"""
POLICY = """\
# policy for tests
TTLSRule PAYIN_RULE
{
  LocalAddrSet
  {
    Prefix 10.20.30.0/24
  }
  LocalPortRange
  {
    Port 8443
  }
  Jobname PAY*
  Direction Inbound
  Priority 400
  TTLSGroupActionRef PAYIN_GRP
  TTLSEnvironmentActionRef PAYIN_ENV
}
TTLSGroupAction PAYIN_GRP
{
  TTLSEnabled On
  Trace 7
}
TTLSEnvironmentAction PAYIN_ENV
{
  HandshakeRole Server
  TTLSKeyringParms
  {
    Keyring PAYRING
  }
  TTLSCipherParmsRef CIPH
  TTLSEnvironmentAdvancedParms
  {
    TLSv1.2 On
    TLSv1.3 On
  }
}
TTLSCipherParms CIPH
{
  V3CipherSuites4Char 1301
  V3CipherSuites4Char C02FC030
}
"""
FLOW = (
    "EZD1284I TTLS Flow  GRPID: 00000003 ENVID: 00000012 CONNID: 0000A1B2  RC:    0 "
    "Get GSK_CONNECT_SEC_TYPE(208) -  TLSV1.3"
)
ERROR = (
    "EZD1286I TTLS Error GRPID: 00000003 ENVID: 00000012 CONNID: 0000A1B2 LOCAL: 10.20.30.40..8443 "
    "REMOTE: ::FFFF:192.0.2.77..51022 JOBNAME: PAYSRV1 USERID: PAYUSR RULE: PAYIN_RULE RC:  402 "
    "Initial Handshake 00000000 00000000"
)
MAP = (
    "EZD1281I TTLS Map CONNID: 0000A1B2 LOCAL: 10.20.30.40..8443 REMOTE: 192.0.2.77..51022 "
    "JOBNAME: PAYSRV1 USERID: PAYUSR TYPE: InBound STATUS: Appl Control RULE: PAYIN_RULE "
    "ACTIONS: PAYIN_GRP PAYIN_ENV **N/A**"
)
ON_CONSOLE = (
    "EZD1287I TTLS Error RC:  402 Initial Handshake",
    "  LOCAL: 10.20.30.40..8443",
    "  REMOTE: 192.0.2.77..51022",
    "  JOBNAME: PAYSRV1 RULE: PAYIN_RULE",
    "  USERID: PAYUSR GRPID: 00000003 ENVID: 00000012 CONNID: 0000A1B2",
)
CERTIFICATE = (
    "EZD2052I GRPID: 00000003 ENVID: 00000012 CONNID: 0000A1B2 SSLRetCode= 8 CMSRetCode= 0x03353010 "
    "Description= validation failed SubjectDN= <CN=a, O=b> IssuerDN= <CN=c>"
)
DAEMON = "Mar  3 09:41:08 SYSA TTLS[67108874]: 09:41:07 TCPPRD "
"""What syslogd and the trace print before a message."""
