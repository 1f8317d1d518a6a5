import { readdirSync, readFileSync } from 'node:fs';
import { Sandbox } from '../../../lib/local/functions/sandbox.ts';

/** An invocation that has ended. */
export interface SeenInvocation {
  /** The function's physical name. */
  physicalName: string;
  /** Records of the event; 1 where it has none. */
  records: number;
  cpuMs: number;
}

/**
 * Tells of every invocation of this process's local runs: the run itself tells nobody, and its own interface needs nothing of the kind.
 * @returns what ends it
 */
export function watchInvocations(seen: (invocation: SeenInvocation) => void): () => void {
  const { invoke } = Sandbox.prototype;
  Sandbox.prototype.invoke = async function (invocation, timeoutSeconds) {
    const before = cpuMsOf(this.pid);
    const result = await invoke.call(this, invocation, timeoutSeconds);
    seen({
      physicalName: invocation.functionArn.split(':').at(-1) ?? '',
      records: recordsOf(invocation.event),
      cpuMs: Math.max(0, cpuMsOf(this.pid) - before),
    });
    return result;
  };
  return () => {
    Sandbox.prototype.invoke = invoke;
  };
}

function recordsOf(event: string): number {
  const { Records } = Object(JSON.parse(event));
  return Array.isArray(Records) ? Records.length : 1;
}

/** What the threads of a process have used of processors, 0 when it is gone. Linux alone tells (proc(5), schedstat: nanoseconds). */
function cpuMsOf(pid: number | undefined): number {
  const tasks = `/proc/${pid}/task`;
  try {
    return readdirSync(tasks).reduce(
      (sum, task) => sum + Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6,
      0,
    );
  } catch {
    return 0;
  }
}
