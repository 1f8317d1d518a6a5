/** When a gate is passed: before the effect of a call, or after it and before its answer arrives. */
export type CallStage = 'calling' | 'answering';

/**
 * A gate of calls. It may throw, or never resolve: the caller then has an error, or crashes, at this point.
 */
export type Gate = (call: string, stage: CallStage) => Promise<void>;

/**
 * A port with a gate before the effect of each call, and before its answer. For ports with asynchronous
 * methods only.
 * @param name prefix of the names of the calls: `deliveries` gives `deliveries.claim`
 */
export function interposed<T extends object>(name: string, port: T, gate: Gate): T {
  return new Proxy(port, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== 'function') return member;
      const call = `${name}.${String(key)}`;
      return async (...parameters: unknown[]) => {
        await gate(call, 'calling');
        const answer: unknown = await Reflect.apply(member, target, parameters);
        await gate(call, 'answering');
        return answer;
      };
    },
  });
}
