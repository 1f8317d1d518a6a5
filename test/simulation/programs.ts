import type { AttemptRecord, Delivery } from '../../functions/delivery/delivery.ts';
import type { Random } from './random.ts';

/** The answer of a simulated receiver to one attempt, after so many seconds. */
interface Step {
  does: number | 'timeout' | 'reset' | 'refused' | 'dns' | 'tls' | 'certificate';
  seconds: number;
}

/** The program in an endpoint's URL, which only simulated receivers follow. */
export interface Program {
  url: string;
  /** One for each attempt; the last one for all that follow. */
  steps: readonly Step[];
  /** How many times faster waits pass. */
  speed: number;
}

/** By its number: parsing a URL again at each attempt takes a twentieth of a run's time. */
const ADDRESS = 'https://93.184.216.34/hook';
const DEADLINE_SECONDS = 10;
/** Most fail for some attempts at least. */
const DOINGS = [
  200,
  204,
  503,
  503,
  500,
  429,
  'timeout',
  'reset',
  'refused',
  'dns',
  'tls',
  'certificate',
] as const;

const ACCEPTING: Program = { url: ADDRESS, steps: [{ does: 200, seconds: 0 }], speed: 1 };

export function someProgram(random: Random): Program {
  if (random.chance(0.3)) return ACCEPTING;
  const steps = Array.from(
    { length: random.between(1, 4) },
    (): Step => ({ does: random.pick(DOINGS), seconds: random.pick([0, 0, 0, 0.2, 3, 12]) }),
  );
  const speed = random.pick([1, 1, 10, 1000, 3600]);
  const written = steps.map(({ does, seconds }) => (seconds === 0 ? does : `${does}@${seconds}s`)).join(',');
  return { url: `${ADDRESS}?simulate=${written}&simulate-speed=${speed}`, steps, speed };
}

/** What is wrong with the last recorded attempt, compared with the endpoint's program. */
export function faultOfAttempt(
  { steps }: Program,
  isSandbox: boolean,
  { attemptLog, terminalReason, status }: Delivery,
): string | undefined {
  const record = attemptLog.at(-1);
  if (record === undefined) return undefined;
  const isMarked = terminalReason === 'sandbox_simulated';
  if (isMarked !== (isSandbox && status === 'succeeded')) return `its end is ${terminalReason}`;
  const isRecordedSo = (record.request !== undefined) === isSandbox;
  if (!isRecordedSo) return `attempt ${record.number} ${isSandbox ? 'has no request' : 'was simulated'}`;
  if (!isSandbox) return undefined;
  const step = steps[Math.min(record.number, steps.length) - 1];
  return step && faultOfStep(step, record);
}

function faultOfStep({ does, seconds }: Step, { number, status, error }: AttemptRecord): string | undefined {
  const isLate = does === 'timeout' || seconds >= DEADLINE_SECONDS;
  const answer = isLate || typeof does !== 'number' ? undefined : does;
  const accepts = answer !== undefined && answer < 300;
  return status === answer && (error === undefined) === accepts
    ? undefined
    : `attempt ${number} came to ${status ?? error} where the program says ${does} after ${seconds} s`;
}
