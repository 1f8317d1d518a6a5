import type { Mutation } from './mutation.ts';

const BUDGETS = 'functions/notices/mailings.ts';

/** Mutations of e-mails to admins. */
export const MAILS: readonly Mutation[] = [
  {
    name: 'recipients of e-mails are not counted',
    file: BUDGETS,
    find: 'recipients ${recipients}`',
    replace: 'recipients ${0 * recipients}`',
    breaks: ['quota of e-mail'],
  },
  {
    name: 'all kinds of e-mails share one budget',
    file: BUDGETS,
    find: 'keys.mailing(orgId, `mail#budget#${kind}#${day}`)',
    replace: 'keys.mailing(orgId, `mail#budget#${kind.slice(0, 0)}#${day}`)',
    breaks: ['quota of e-mail'],
  },
  {
    name: 'a budget of e-mails is used up for ever',
    file: BUDGETS,
    find: 'keys.mailing(orgId, `mail#budget#${kind}#${day}`)',
    replace: 'keys.mailing(orgId, `mail#budget#${kind}#${day.slice(0, 0)}`)',
    breaks: ['quota of e-mail'],
  },
  {
    name: 'an e-mail of unknown outcome is resent',
    file: 'functions/notices/notify.ts',
    find: "reason: result.reason });\n      return 'unknown';",
    replace:
      "reason: result.reason });\n      await mailings.release(request, claim.token);\n      return 'refused';",
    breaks: ['one e-mail'],
  },
  {
    name: 'the second group of admins gets no e-mail',
    file: 'functions/notices/notify.ts',
    find: 'for (const { mail, request: claimed } of mails) {',
    replace: 'for (const { mail, request: claimed } of mails.slice(0, 1)) {',
    breaks: ['one e-mail'],
  },
];
