import { processorTimes } from '../neighbours/turns.ts';
import { computeDelay, type Delay, latenciesAt, type Stage, startLoad } from './stage.ts';

/** A time with a load of live events. */
export interface Window {
  /** Latencies in milliseconds: at the endpoint of the job, and at another one. */
  same: number[];
  other: number[];
  /** Milliseconds that the machine's processors worked, for this run and for all, and that passed on all. */
  processors: { own: number; all: number; whole: number };
}

/** Holds a load of live events while `during` runs. */
export async function measureWindow(
  stage: Stage,
  {
    conversation,
    perSecond,
    receiverPath,
  }: { conversation: string; perSecond: number; receiverPath: string },
  during: () => Promise<unknown>,
): Promise<Window> {
  const before = processorTimes();
  const stopLoad = startLoad(stage, conversation, perSecond);
  await during();
  const messages = await stopLoad();
  const after = processorTimes();
  const [same, other] = await Promise.all([
    latenciesAt(stage, receiverPath, messages),
    latenciesAt(stage, '/other', messages),
  ]);
  const processors = {
    own: after.own - before.own,
    all: after.all - before.all,
    whole: after.whole - before.whole,
  };
  return { same, other, processors };
}

/** Percent of the machine's processors. */
interface Busy {
  own: number;
  all: number;
}

/** Live events in windows without and with a job. */
export interface Delays {
  same: Delay;
  other: Delay;
  samples: number;
  busy: { without: Busy; with: Busy };
}

export function computeDelays(without: readonly Window[], during: readonly Window[]): Delays {
  const of = (windows: readonly Window[], name: 'same' | 'other') => windows.flatMap((one) => one[name]);
  return {
    same: computeDelay(of(without, 'same'), of(during, 'same')),
    other: computeDelay(of(without, 'other'), of(during, 'other')),
    samples: of(during, 'same').length,
    busy: { without: computeBusy(without), with: computeBusy(during) },
  };
}

function computeBusy(windows: readonly Window[]): Busy {
  const sum = (part: keyof Window['processors']) =>
    windows.reduce((total, { processors }) => total + processors[part], 0);
  return { own: (100 * sum('own')) / sum('whole'), all: (100 * sum('all')) / sum('whole') };
}
