import type { Listed, Page } from '../../../../packages/cli/src/forward/round.ts';

/** A delivery of the simulated sandbox; times in milliseconds. */
export interface SimulatedDelivery {
  id: string;
  webhookId: string;
  appearsAt: number;
  /** When it gets a request or ends. */
  settledAt: number;
  settlement: 'attempted' | 'ended';
}

/** An item of the listing, with the time at which its request was signed. */
export interface SignedDelivery extends Listed {
  signedAt: number;
}

/** The id of a delivery whose event happened at `time`. */
export function idAt(time: number, random: number): string {
  return `dlv_${time.toString(16).padStart(12, '0')}${random.toString(16).padStart(20, '0')}`;
}

/** An endpoint's listing at a moment: newest first, in pages whose cursor is the last id. */
export function listAt(
  deliveries: readonly SimulatedDelivery[],
  webhookId: string,
  { cursor, size, now }: { cursor: string | undefined; size: number; now: number },
): Page<SignedDelivery> {
  const shown = deliveries
    .filter((each) => each.webhookId === webhookId && each.appearsAt <= now)
    .filter(({ id }) => cursor === undefined || id < cursor)
    .sort((a, b) => (a.id < b.id ? 1 : -1));
  const page = shown.slice(0, size);
  return {
    deliveries: page.map(({ id, settledAt, settlement }) => ({
      id,
      webhookId,
      state: settledAt <= now ? settlement : 'waiting',
      signedAt: now,
    })),
    next: shown.length > size ? page.at(-1)?.id : undefined,
  };
}
