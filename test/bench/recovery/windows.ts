import { computeDelay, type Delay, latenciesAt, type Stage, startLoad } from './stage.ts';

/** A time with a load of live events. */
export interface Window {
  /** Latencies in milliseconds: at the endpoint of the job, and at another one. */
  same: number[];
  other: number[];
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
  const stopLoad = startLoad(stage, conversation, perSecond);
  await during();
  const messages = await stopLoad();
  const [same, other] = await Promise.all([
    latenciesAt(stage, receiverPath, messages),
    latenciesAt(stage, '/other', messages),
  ]);
  return { same, other };
}

/** Live events in windows without and with a job. */
export interface Delays {
  same: Delay;
  other: Delay;
  samples: number;
}

export function computeDelays(without: readonly Window[], during: readonly Window[]): Delays {
  const of = (windows: readonly Window[], name: 'same' | 'other') => windows.flatMap((one) => one[name]);
  return {
    same: computeDelay(of(without, 'same'), of(during, 'same')),
    other: computeDelay(of(without, 'other'), of(during, 'other')),
    samples: of(during, 'same').length,
  };
}
