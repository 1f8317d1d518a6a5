import { inFile, type Mutation } from './mutation.ts';

/** Mutations of e-mails to admins, and of scheduled workers, whose time may be used up. */
export const MAILS_AND_TURNS: readonly Mutation[] = [
  ...inFile('functions/notices/mailings.ts', [
    {
      name: 'recipients of e-mails are not counted',
      find: 'recipients ${recipients}`',
      replace: 'recipients ${0 * recipients}`',
      breaks: ['quota of e-mail'],
    },
    {
      name: 'all kinds of e-mails share one budget',
      find: 'keys.mailing(orgId, `mail#budget#${kind}#${day}`)',
      replace: 'keys.mailing(orgId, `mail#budget#${kind.slice(0, 0)}#${day}`)',
      breaks: ['quota of e-mail'],
    },
  ]),
  ...inFile('functions/notices/notify.ts', [
    {
      name: 'an e-mail of unknown outcome is resent',
      find: "reason: result.reason });\n      return 'unknown';",
      replace:
        "reason: result.reason });\n      await mailings.release(request, claim.token);\n      return 'refused';",
      breaks: ['one e-mail'],
    },
    {
      name: 'the second group of admins gets no e-mail',
      find: 'for (const { mail, request: claimed } of mails) {',
      replace: 'for (const { mail, request: claimed } of mails.slice(0, 1)) {',
      breaks: ['one e-mail'],
    },
  ]),
  ...inFile('functions/tenancy/sweep.ts', [
    {
      name: 'a scheduled worker serves one organization after the other',
      find: 'round.push(...line.splice(0, Math.ceil(perRound * SHARE)));',
      replace: 'round.push(...line.splice(0, perRound - round.length));',
      also: [
        {
          file: 'functions/tenancy/sweep.ts',
          find: '      lines.delete(orgId);\n',
          replace: '      if (line.length === 0) lines.delete(orgId);\n',
        },
      ],
      breaks: ['turns'],
      firstSeed: 140,
    },
  ]),
];
