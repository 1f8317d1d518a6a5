import type { Mutation } from './mutation.ts';

/** Mutations of the turns at endpoints with a limit. */
export const LIMITS: readonly Mutation[] = [
  {
    name: 'a start is taken and left for the next one',
    file: 'functions/domain/endpoint-rate.ts',
    find: 'if (isOver) update.add[name] = span(count);',
    replace: "if (isOver) update.add[name] = name === 'next' ? 0 : span(count);",
    breaks: ['within its limit'],
  },
  {
    name: 'a message that has waited in line is attempted without a turn',
    file: 'functions/engine/attempt-delivery.ts',
    find: 'if (endpoint.maxPerSecond !== undefined) {',
    replace: 'if (endpoint.maxPerSecond !== undefined && deliveryMessage.waited === undefined) {',
    breaks: ['within its limit'],
  },
  {
    name: 'a delivery is parked for its turn outside of the due index',
    file: 'functions/store/due-index.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    find: 'turn = :turn, ${SET_PLACE}`',
    replace: 'turn = :turn REMOVE dueIn, dueKey`',
    breaks: ['nothing lost', 'comes to rest'],
  },
];
