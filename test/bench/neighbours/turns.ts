import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { familyOf, processes } from '../measure/processor-time.ts';
import { quantile } from '../measure/statistics.ts';
import type { Prepared, Scenario, Turn } from './scenario.ts';

/** The permitted ratio of the p99 with the hostile organization to the p99 without it. */
export const MOST_TIMES = 1.3;

export const SIDES = ['without', 'with'] as const;
export type Side = (typeof SIDES)[number];

interface MeasuredTurn extends Turn {
  /**
   * Shares of the machine's processors, from 0 to 1: in use by the service and its clients, and by all
   * processes.
   */
  processors: { own: number; all: number };
  /** The work of the hostile organization. */
  hostile?: string;
}
export type Turns = Readonly<Record<Side, readonly MeasuredTurn[]>>;

/** Runs turns without and with the hostile load in alternation. */
export async function alternate(
  { leadSeconds }: Pick<Scenario, 'leadSeconds'>,
  { honestTurn, startHostile }: Prepared,
  { seconds, rounds, progress }: { seconds: number; rounds: number; progress(text: string): void },
): Promise<Turns> {
  const turns = { without: [] as MeasuredTurn[], with: [] as MeasuredTurn[] };
  const measure = async (): Promise<MeasuredTurn> => {
    const before = processorTimes();
    const turn = await honestTurn(seconds);
    const after = processorTimes();
    const share = (part: 'own' | 'all') => (after[part] - before[part]) / (after.whole - before.whole);
    return { ...turn, processors: { own: share('own'), all: share('all') } };
  };
  const describe = ({ samples, missing, refused }: Turn) => {
    const [times = []] = Object.values(samples);
    const p99 = quantile(times, 0.99).toFixed(0);
    return `${times.length} samples, p99 ${p99} ms, ${refused} refused, ${missing} missing`;
  };
  for (let round = 1; round <= rounds; round += 1) {
    const without = await measure();
    turns.without.push(without);
    progress(`round ${round} of ${rounds}, without: ${describe(without)}`);
    const load = await startHostile();
    await sleep(leadSeconds * 1000);
    const beside = await measure();
    progress(`round ${round} of ${rounds}, with: ${describe(beside)}`);
    const hostile = await load.stop();
    progress(`the hostile organization: ${hostile}`);
    turns.with.push({ ...beside, hostile });
  }
  return turns;
}

/**
 * Milliseconds that processors have worked for this benchmark, for all processes, and that have passed on all
 * of them.
 */
export function processorTimes(): { own: number; all: number; whole: number } {
  const times = cpus().map(({ times: { user, nice, sys, idle, irq } }) => ({
    all: user + nice + sys + irq,
    whole: user + nice + sys + irq + idle,
  }));
  const sum = (part: 'all' | 'whole') => times.reduce((total, one) => total + one[part], 0);
  const family = familyOf(process.pid, processes());
  return { own: family.reduce((total, { cpuMs }) => total + cpuMs, 0), all: sum('all'), whole: sum('whole') };
}

/** The samples of several turns together, by metric. */
export function pooled(turns: readonly Pick<Turn, 'samples'>[]): Map<string, number[]> {
  const all = new Map<string, number[]>();
  for (const { samples } of turns)
    for (const [metric, times] of Object.entries(samples))
      all.set(metric, [...(all.get(metric) ?? []), ...times]);
  return all;
}

export interface Verdict {
  metric: string;
  ratio: number;
  /** Why the scenario fails; empty when it passes. */
  faults: string[];
}

/**
 * Judges the first metric of a scenario, refused calls, and missing results beside the hostile organization.
 */
export function judge(turns: Readonly<Record<Side, readonly Turn[]>>): Verdict {
  const [without, beside] = SIDES.map((side) => pooled(turns[side]));
  const [metric = ''] = without?.keys() ?? [];
  const p99 = (samples?: Map<string, number[]>) => quantile(samples?.get(metric) ?? [], 0.99);
  const ratio = p99(beside) / p99(without);
  const count = (name: 'refused' | 'missing') => turns.with.reduce((sum, turn) => sum + turn[name], 0);
  const calls = turns.with.reduce((sum, turn) => sum + turn.calls, 0);
  return {
    metric,
    ratio,
    faults: [
      // NaN, without samples, does not pass either.
      ...(ratio <= MOST_TIMES ? [] : [`p99 is ${ratio.toFixed(2)} times as long, more than ${MOST_TIMES}`]),
      ...(count('refused') > 0 ? [`${count('refused')} of ${calls} honest calls were refused`] : []),
      ...(count('missing') > 0 ? [`${count('missing')} did not come in time`] : []),
    ],
  };
}
