import type { FailingReceiver, Receipt } from './receivers.ts';
import type { SandboxOutcome } from './sandbox.ts';
import type { UsageOutcome } from './usage.ts';

/** A delivery in the API. */
export interface ShownDelivery {
  id: string;
  status: string;
  /** Attempts started. */
  attempts: number;
  /** Attempts whose outcome was recorded, with the status of the receiver's response, if one came in time. */
  recorded: readonly { status: number | null }[];
}

export interface EndpointOutcome {
  receiver: FailingReceiver;
  deliveries: readonly ShownDelivery[];
  /** Its statistics. */
  stats: Record<string, number>;
}

/** The result of the run. All but the first block must be zero. */
export interface Verdict {
  accepted: number;
  deliveries: number;
  succeeded: number;
  exhausted: number;
  /** Requests after a success of the same delivery. */
  duplicates: number;
  /** Messages that the sandbox accepted since its last reset. */
  sandboxAccepted: number;
  sandboxResets: number;
  /** Conversations and messages that usage has counted. */
  metered: number;

  /** Accepted messages without a request, or with a succeeded delivery that no receiver has accepted. */
  lost: number;
  notTerminal: number;
  /** Deliveries with more requests than attempts. */
  uncounted: number;
  /** Deliveries with more requests after a success than attempts whose outcome or response was lost. */
  unexplained: number;
  moreThanEight: number;
  /** Endpoints whose ledger differs from their deliveries. */
  ledgerDiffers: number;

  /** Connections to the sandbox's endpoints, and its events at other receivers. */
  sandboxReachedOut: number;
  sandboxLost: number;
  sandboxNotTerminal: number;
  /** Rows of earlier generations. */
  oldRowsLeft: number;

  /** Conversations and messages that were not metered, or more than once. */
  usageDiffers: number;
  /** Rows of metered usage of the sandbox. */
  sandboxMetered: number;
}

/** Compares what the receivers got with the accepted messages and with the API. */
export function judge(
  accepted: ReadonlySet<string>,
  endpoints: readonly EndpointOutcome[],
  sandbox: SandboxOutcome & { reachedOut: number },
  usage: UsageOutcome,
): Verdict {
  const verdict: Verdict = {
    accepted: accepted.size,
    deliveries: 0,
    succeeded: 0,
    exhausted: 0,
    duplicates: 0,
    sandboxAccepted: sandbox.accepted,
    sandboxResets: sandbox.resets,
    metered: usage.conversations + usage.messages,
    lost: 0,
    notTerminal: 0,
    uncounted: 0,
    unexplained: 0,
    moreThanEight: 0,
    ledgerDiffers: 0,
    sandboxReachedOut: sandbox.reachedOut,
    sandboxLost: sandbox.lost,
    sandboxNotTerminal: sandbox.notTerminal,
    oldRowsLeft: sandbox.oldRowsLeft,
    usageDiffers: usage.differs,
    sandboxMetered: usage.ofSandbox,
  };
  for (const endpoint of endpoints) judgeEndpoint(verdict, accepted, endpoint);
  return verdict;
}

function judgeEndpoint(
  verdict: Verdict,
  accepted: ReadonlySet<string>,
  { receiver, deliveries, stats }: EndpointOutcome,
): void {
  const settled = new Set<string>();
  const counts = { succeeded: 0, exhausted: 0, duplicates: 0 };
  for (const { id, status, attempts, recorded } of deliveries) {
    const receipt = receiver.receipts.get(id);
    if (status === 'succeeded') counts.succeeded += 1;
    else if (status === 'exhausted') counts.exhausted += 1;
    else verdict.notTerminal += 1;
    if (attempts > 8) verdict.moreThanEight += 1;
    counts.duplicates += attempts - recorded.length;
    if (receipt === undefined) continue;
    verdict.duplicates += repeatsOf(receipt);
    if (receipt.requests > attempts) verdict.uncounted += 1;
    if (isUnexplained({ attempts, recorded }, receipt)) verdict.unexplained += 1;
    if (receipt.accepted > 0 || status === 'exhausted') settled.add(receipt.messageId);
  }
  verdict.deliveries += deliveries.length;
  verdict.succeeded += counts.succeeded;
  verdict.exhausted += counts.exhausted;
  for (const message of accepted) if (!settled.has(message)) verdict.lost += 1;
  const balanced =
    stats.owed === deliveries.length &&
    stats.succeeded === counts.succeeded &&
    stats.exhausted === counts.exhausted &&
    stats.duplicates === counts.duplicates;
  if (!balanced) verdict.ledgerDiffers += 1;
}

/** Requests after a success. */
const repeatsOf = ({ accepted }: Receipt): number => Math.max(0, accepted - 1);

/**
 * Whether a receiver got a delivery again although the service knew of its success. The service cannot know
 * when the outcome of the attempt was lost, or the receiver's response came too late.
 */
export function isUnexplained(
  { attempts, recorded }: Pick<ShownDelivery, 'attempts' | 'recorded'>,
  receipt: Receipt,
): boolean {
  const answered = recorded.filter(({ status }) => status !== null).length;
  return repeatsOf(receipt) > attempts - answered;
}

/** The faults of a run, as text. */
export const faultsOf = (verdict: Verdict): string[] =>
  FAULTS.filter((name) => verdict[name] > 0).map((name) => `${name}: ${verdict[name]}`);

const FAULTS = [
  'lost',
  'notTerminal',
  'uncounted',
  'unexplained',
  'moreThanEight',
  'ledgerDiffers',
  'sandboxReachedOut',
  'sandboxLost',
  'sandboxNotTerminal',
  'oldRowsLeft',
  'usageDiffers',
  'sandboxMetered',
] as const;
