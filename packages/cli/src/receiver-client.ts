import type { Client } from '../../sdk/src/index.ts';

/** The operations of an endpoint, or those of a channel, which are the same. @param id `whk_…` or `chn_…` */
export function receiverClient({ endpoints, deliveries, redeliveries, channels }: Client, id: string) {
  return isChannel(id) ? channels : { ...endpoints, deliveries, redeliveries };
}

const isChannel = (id: string): boolean => id.startsWith('chn_');
