import type { Work } from './measured.ts';

/*
 * Estimates Lambda's billed duration from the measured processor time, scaled by the memory's share of a
 * processor, and the requests that the function waits for. Durations of this machine differ from Lambda's.
 */

/** MiB per processor (Lambda Developer Guide, "Configure function memory"). */
const MIB_OF_A_PROCESSOR = 1769;
/** Request time within a region, estimated from DynamoDB and SQS. */
export const REQUEST_MS = 5;

/** Milliseconds in which a function of this memory does so much work. */
export const processorMsOf = (memoryMiB: number, cpuMs: number): number =>
  cpuMs / Math.min(1, memoryMiB / MIB_OF_A_PROCESSOR);

/**
 * @param work of all invocations together
 * @param waits milliseconds in which each invocation only waits
 * @returns GB-seconds
 */
export function gbSecondsOf(memoryMiB: number, invocations: number, work: Work, waits: number): number {
  const milliseconds = processorMsOf(memoryMiB, work.cpuMs) + invocations * waits;
  return (milliseconds / 1000) * (memoryMiB / 1024);
}
