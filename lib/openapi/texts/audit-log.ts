import * as settings from '../../../functions/api/settings/routes.ts';
import * as examples from '../example-values.ts';
import { CREATED, described, type OperationText } from '../operation-text.ts';

export const operations = {
  listAuditLog: {
    tag: 'Organization',
    summary: 'List the audit log',
    mostTokens: 4,
    description: `Lists who changed the set-up of the organization, newest first: webhook endpoints, redelivery jobs, channels, content sources, API keys,
settings and the sandbox. An endpoint or channel that the service disabled has an entry too. An entry exists exactly when its change took effect, and is kept for 400 days.

Changes that were made with sandbox keys, or with \`environment=sandbox\`, are in the log of the sandbox. A reset keeps it. Its keys, its provisioning and its
resets are in the log of the live organization.

Continue until \`nextCursor\` is null: a page may be short or empty and still have a \`nextCursor\`. Fails with \`SANDBOX_NOT_PROVISIONED\` for a sandbox that does not exist.`,
    answer: 'A page of entries.',
    data: [examples.disablingEntry, examples.updateEntry],
  },
} as const satisfies Record<string, OperationText>;

/** The schemas of answers. */
export const answers = {
  AuditEntry: described(settings.AuditEntry, {
    id: 'Identifier of the entry.',
    action: 'What was done. Actions may be added.',
    actor: 'Who did it.',
    target: 'What it was done to.',
    changes:
      'Fields that differ. A new thing has nulls before, a deleted one after. Never contains a secret.',
    requestId: 'The `Request-Id` of the request; null without one.',
    createdAt: CREATED,
  }),
  AuditActor: described(settings.AuditActor, {
    type: '`user` of the dashboard, `api_key`, the `service` itself, or an `operator` of the service.',
    id: 'Identifier of the user at the issuer, or of the API key. Null for others.',
    email: 'E-mail address of the user at that time; null if the issuer does not provide one.',
  }),
  AuditTarget: described(settings.AuditTarget, {
    type: 'Type of the thing.',
    id: 'Identifier of the thing, which may be deleted.',
  }),
  AuditChange: described(settings.AuditChange, {
    field: 'Name of the field.',
    before: 'Value before the change; null if there was none.',
    after: 'Value after the change; null if there is none.',
  }),
};
