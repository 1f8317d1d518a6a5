import type { paths } from './schema.gen.ts';

type EndpointPath = Extract<keyof paths, `/api/settings/webhooks/{id}${string}`>;

export const isChannelId = (id: string): boolean => id.startsWith('chn_');

/** The path of an endpoint's operation, or of the same one of a channel. */
export const pathOf = <Path extends EndpointPath>(id: string, path: Path): Path =>
  isChannelId(id) ? (path.replace('/webhooks/', '/channels/') as Path) : path;

/** A delivery or a job with its receiver's id, which answers about channels name `channelId`. */
export const withReceiver = <Row extends { webhookId: string }>(row: Row, webhookId: string): Row => ({
  ...row,
  webhookId,
});

/** The page of an endpoint or channel, and of its recovery. */
export const pageOf = (id: string): string => (isChannelId(id) ? `/channels/${id}` : `/endpoints/${id}`);
export const recoveryOf = (id: string): string => (isChannelId(id) ? pageOf(id) : `/endpoints/${id}/recover`);
