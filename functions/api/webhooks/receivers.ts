import { loopbackReceivers } from '../../platform/config.ts';

/** Where deliveries may go, in this place. */
export const receiverPolicy = { loopback: loopbackReceivers() };
