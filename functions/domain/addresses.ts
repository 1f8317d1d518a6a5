import ipaddr from 'ipaddr.js';

/**
 * The metadata service, resolver and health probe of Azure, the one metadata address among global unicast: Microsoft
 * owns it and announces it to nobody, so that whoever is reached there is the inside of a cloud.
 */
const AZURE_WIRE_SERVER = '168.63.129.16';

/**
 * Whether an address is one that anybody on the Internet may own, and nothing else.
 *
 * Fails closed: text that is not one canonical address (octal or short IPv4, a zone id, a host name) is not public.
 * Addresses that embed another one (IPv4-mapped, IPv4-compatible, NAT64, 6to4, Teredo, ISATAP) are not public
 * whatever they embed, because no receiver needs them and each translator reads them in its own way.
 *
 * Source: the IANA IPv4 and IPv6 special-purpose address registries (RFC 6890).
 *
 * @param address dotted IPv4 or unbracketed IPv6, as a resolver or a socket states it
 */
export function isPublicAddress(address: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) {
    return ipaddr.IPv4.parse(address).range() === 'unicast' && address !== AZURE_WIRE_SERVER;
  }
  if (!isPlainIPv6(address)) return false;

  const ipv6 = ipaddr.IPv6.parse(address);
  return isGlobalUnicast(ipv6) && !isIsatap(ipv6) && ipv6.range() === 'unicast';
}

/** Whether an address is 127.0.0.0/8 or ::1. Mapped and other embedding forms are not. */
export function isLoopbackAddress(address: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address).range() === 'loopback';
  return isPlainIPv6(address) && ipaddr.IPv6.parse(address).range() === 'loopback';
}

function isPlainIPv6(address: string): boolean {
  return !address.includes('%') && ipaddr.IPv6.isValid(address);
}

/**
 * 2000::/3 is all that is allocated for global unicast (RFC 4291). The range table of ipaddr.js calls "unicast"
 * whatever it does not know, so an address outside must not get as far as that table.
 */
function isGlobalUnicast(address: ipaddr.IPv6): boolean {
  return address.match(ipaddr.IPv6.parse('2000::'), 3);
}

/** ISATAP (RFC 5214) hides an IPv4 address behind the interface identifier `[0200:]5efe`, under any prefix. */
function isIsatap(address: ipaddr.IPv6): boolean {
  const [, , , , high, low] = address.parts;
  return low === 0x5efe && (high === 0 || high === 0x0200);
}
