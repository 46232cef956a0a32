package packet

import (
	"testing"

	"github.com/google/gopacket/layers"
)

// The numbers of link types and ether types are those that gopacket knows.
func TestNumbersAreThoseOfGopacket(t *testing.T) {
	for want, got := range map[layers.LinkType]uint32{
		layers.LinkTypeNull: linkNull, layers.LinkTypeEthernet: linkEthernet, layers.LinkTypePPP: linkPPP,
		layers.LinkTypePPP_HDLC: linkPPPHDLC, layers.LinkTypePPPEthernet: linkPPPoE, layers.LinkTypeRaw: linkRaw,
		layers.LinkTypeLoop: linkLoop, layers.LinkTypeLinuxSLL: linkSLL,
	} {
		if got != uint32(want) {
			t.Errorf("%v: %d, want %d", want, got, uint32(want))
		}
	}
	for want, got := range map[layers.EthernetType]uint16{
		layers.EthernetTypeIPv4: etherIPv4, layers.EthernetTypeIPv6: etherIPv6, layers.EthernetTypeDot1Q: etherVLAN,
		layers.EthernetTypeQinQ: etherQinQ, layers.EthernetTypeMPLSUnicast: etherMPLS, layers.EthernetTypePPPoESession: etherPPPoE,
		layers.EthernetTypePPP: etherPPP, layers.EthernetTypeTransparentEthernetBridging: etherTEB, layers.EthernetTypeERSPAN: etherSPAN2,
	} {
		if got != uint16(want) {
			t.Errorf("%v: %#x, want %#x", want, got, uint16(want))
		}
	}
}
