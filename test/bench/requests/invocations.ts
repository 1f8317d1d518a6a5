import { Sandbox } from 'aws-local/functions/sandbox.ts';
import { cpuMsOf } from '../measure/processor-time.ts';

/** An invocation that has ended. */
interface SeenInvocation {
  /** The function's physical name. */
  physicalName: string;
  /** Records of the event; 1 where it has none. */
  records: number;
  /** Requests of the pollers of its queue: a receive and a deletion for ten messages or fewer. */
  polls: number;
  cpuMs: number;
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
      ...recordsOf(invocation.event),
      cpuMs: Math.max(0, cpuMsOf(this.pid) - before),
    });
    return result;
  };
  return () => {
    Sandbox.prototype.invoke = invoke;
  };
}

/** SQS's limit on the messages of a request. */
const SQS_BATCH = 10;

function recordsOf(event: string): { records: number; polls: number } {
  const { Records } = Object(JSON.parse(event));
  if (!Array.isArray(Records)) return { records: 1, polls: 0 };
  const isQueue = Records[0]?.eventSource === 'aws:sqs';
  return { records: Records.length, polls: isQueue ? 2 * Math.ceil(Records.length / SQS_BATCH) : 0 };
}
