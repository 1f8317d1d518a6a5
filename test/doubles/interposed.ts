/** Where a call stands: before its effect, or after it and before its answer arrives. */
export type CallStage = 'calling' | 'answering';

/**
 * Holds a call up. It may throw, or never return: the caller has then failed, or crashed, at this very point.
 */
export type Gate = (call: string, stage: CallStage) => Promise<void>;

/**
 * A port each of whose calls passes a gate before it takes effect, and again before the caller has its
 * answer. For ports all of whose methods are asynchronous.
 * @param name leads the names of the calls: `deliveries` gives `deliveries.claim`
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
