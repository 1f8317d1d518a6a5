import { Sandbox } from 'aws-local/functions/sandbox.ts';
import { cpuMsOf } from '../measure/processor-time.ts';

/** An invocation that has ended. */
export interface SeenInvocation {
  /** The function's physical name. */
  physicalName: string;
  /** Records of the event; 1 where it has none. */
  records: number;
  cpuMs: number;
  /** The process that it was in. */
  pid: number;
  /** The event, as JSON. */
  event: string;
}

/**
 * Reports every invocation of this process's local runs, for which the run has no interface.
 * @returns a function that ends it
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
      pid: this.pid ?? 0,
      event: invocation.event,
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
