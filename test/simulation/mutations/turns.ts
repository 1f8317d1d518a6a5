import type { Mutation } from './mutation.ts';

const TURNS = 'functions/tenancy/sweep.ts';

/** Mutations of scheduled workers, whose time may be used up. */
export const TURNS_BY_ORGANIZATION: readonly Mutation[] = [
  {
    name: 'a scheduled worker serves one organization after the other',
    file: TURNS,
    find: 'round.push(...line.splice(0, Math.ceil(perRound * SHARE)));',
    replace: 'round.push(...line.splice(0, perRound - round.length));',
    also: [
      {
        file: TURNS,
        find: '      lines.delete(orgId);\n',
        replace: '      if (line.length === 0) lines.delete(orgId);\n',
      },
    ],
    breaks: ['turns'],
    firstSeed: 140,
  },
];
