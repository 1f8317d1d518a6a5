import type { Forbidden } from './corpus/forbidden.ts';
import { forbiddenIPv4 } from './corpus/ipv4-hosts.ts';
import { forbiddenIPv6 } from './corpus/ipv6-hosts.ts';
import { forbiddenNames } from './corpus/named-hosts.ts';
import { publicAddresses } from './corpus/public-addresses.ts';
import type { PublicUrl } from './corpus/public-url.ts';
import { publicUrls } from './corpus/public-urls.ts';

/**
 * Spellings of hosts that no delivery may go to, each with the reason. They can be combined with any port.
 */
export const forbiddenHosts: readonly Forbidden[] = [...forbiddenIPv4, ...forbiddenIPv6, ...forbiddenNames];

/** URLs that deliveries may go to, each with its peculiarity. */
export const permittedUrls: readonly PublicUrl[] = [...publicUrls, ...publicAddresses];
