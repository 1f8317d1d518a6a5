import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';
import type { CpuProfile } from './profiles.ts';

/*
 * Loaded in a function's process before its code: a first SIGUSR2 starts a profile, a second one writes it to
 * the directory of PROFILES. A sandbox is killed at its end, so it could not write one that Node.js keeps.
 */

const SAMPLING_MICROSECONDS = 250;

/** Of the whole process and of its main thread, in milliseconds. */
const usedMs = () => {
  const sum = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1000;
  return { all: sum(process.cpuUsage()), main: sum(process.threadCpuUsage()) };
};

const session = new Session();
let begun: ReturnType<typeof usedMs> | undefined;

function start(): void {
  begun = usedMs();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: SAMPLING_MICROSECONDS });
  session.post('Profiler.start');
}

function stop(before: ReturnType<typeof usedMs>): void {
  begun = undefined;
  session.post('Profiler.stop', (_, { profile }) => {
    const now = usedMs();
    const written: CpuProfile = {
      ...profile,
      functionName: process.env.FUNCTION_NAME ?? '',
      mainMs: now.main - before.main,
      otherThreadsMs: now.all - before.all - (now.main - before.main),
    };
    const file = join(process.env.PROFILES ?? '', `${written.functionName}-${process.pid}.cpuprofile`);
    writeFileSync(file, JSON.stringify(written));
    session.disconnect();
  });
}

process.on('SIGUSR2', () => (begun === undefined ? start() : stop(begun)));
