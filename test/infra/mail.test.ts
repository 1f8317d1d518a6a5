import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { MAIL as METRICS } from '../../functions/aws/metrics.ts';
import { MAIL_LEASE_SECONDS } from '../../functions/delivery/timing.ts';
import { NOTICES } from '../../functions/events/bus.ts';
import { MAIL_BUDGETS } from '../../functions/notices/mail.ts';
import { OTHER_ISSUER, PROD, SETTINGS } from './contexts.ts';
import { functionNamed, ofType, statementsOf, synthesize, tableGrants } from './synthesize.ts';

const template = synthesize();
const [id, fn] = functionNamed(template, 'notify');
const grantsOf = (action: string) =>
  statementsOf(template, fn).filter((statement) => [statement.Action].flat().includes(action));

describe('the mailer', () => {
  it.each([
    [['source.changed'], 5, 'BusNotifyQueue'],
    [['webhook.disabled', 'webhook.failing'], 2, 'BusNotifyDisabledQueue'],
  ])(
    'receives %j from the bus, five at a time, from a queue of its own',
    (types, MaximumConcurrency, queue) => {
      for (const type of types) expect(NOTICES).toHaveProperty([type]);
      const ofQueue = { 'Fn::GetAtt': [Match.stringLikeRegexp(`^${queue}`), 'Arn'] };
      template.hasResourceProperties('AWS::Events::Rule', {
        EventPattern: { source: ['conversation-service'], 'detail-type': types },
        Targets: [Match.objectLike({ Arn: ofQueue })],
      });
      template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
        FunctionName: { Ref: id },
        EventSourceArn: ofQueue,
        BatchSize: 5,
        ScalingConfig: { MaximumConcurrency },
        FunctionResponseTypes: ['ReportBatchItemFailures'],
      });
    },
  );

  it('receives each kind of e-mail that has a budget, and nothing else', () => {
    const kinds = Object.entries(MAIL_BUDGETS).flatMap(([kind, budget]) => (budget ? [kind] : []));
    const rules = ofType(template, 'AWS::Events::Rule').filter(([, rule]) =>
      JSON.stringify(rule.Properties.Targets ?? []).includes('BusNotify'),
    );
    const received = rules.flatMap(([, { Properties }]) => Object(Properties.EventPattern)['detail-type']);
    expect(received.toSorted()).toEqual(kinds.toSorted());
  });

  it('has a shorter timeout than the claim of an e-mail', () => {
    expect(Number(fn.Properties.Timeout)).toBeLessThan(MAIL_LEASE_SECONDS);
  });

  it('has claims that end before their messages reappear', () => {
    const queues = ofType(template, 'AWS::SQS::Queue').filter(
      ([name, { Properties }]) => /^BusNotify(Disabled)?Queue/.test(name) && Properties.RedrivePolicy,
    );
    expect(queues).toHaveLength(2);
    for (const [, { Properties }] of queues)
      expect(Properties.VisibilityTimeout).toBeGreaterThan(MAIL_LEASE_SECONDS);
  });

  it('has settings for its sender, the dashboard and the hours', () => {
    expect(Object(fn.Properties.Environment).Variables).toMatchObject({
      MAIL_FROM: PROD.mailFrom,
      DASHBOARD_ORIGIN: PROD.dashboardOrigin,
      NOTICE_SECONDS: '86400',
      MAIL_BUDGET: '100',
      MAIL_CEILING: '40000',
      USER_POOL: { Ref: expect.stringMatching(/^IdentityUsers/) },
    });
  });

  it('may read the subjects of e-mails, keep its claims, and record at a source what admins were sent', () => {
    expect(tableGrants(template, fn)).toEqual([
      'dynamodb:GetItem Knowledge',
      'dynamodb:GetItem Mailings',
      'dynamodb:GetItem Service',
      'dynamodb:PutItem Mailings',
      'dynamodb:UpdateItem Knowledge',
      'dynamodb:UpdateItem Mailings',
    ]);
  });

  it('may list the users of the pool, and do nothing else with them', () => {
    const actions = statementsOf(template, fn).flatMap(({ Action }) => Action);
    expect(actions.filter((action) => action.startsWith('cognito'))).toEqual(['cognito-idp:ListUsers']);
    expect(grantsOf('cognito-idp:ListUsers')[0]?.Resource).toEqual({
      'Fn::GetAtt': [expect.stringMatching(/^IdentityUsers/), 'Arn'],
    });
  });

  it('may send as its own sender only, whether SES has verified the address or its domain', () => {
    const actions = statementsOf(template, fn).flatMap(({ Action }) => Action);
    expect(actions.filter((action) => action.startsWith('ses'))).toEqual(['ses:SendEmail']);
    const resources = [grantsOf('ses:SendEmail')[0]?.Resource].flat().map((arn) => JSON.stringify(arn));
    expect(resources).toEqual([
      expect.stringContaining(`:identity/${PROD.mailFrom}"`),
      expect.stringContaining(':identity/mail.example.com"'),
      expect.stringContaining(':identity/example.com"'),
    ]);
  });

  it('is the only function with these rights, and with its table', () => {
    for (const [other, { Properties }] of ofType(template, 'AWS::Lambda::Function')) {
      if (other === id) continue;
      const said = JSON.stringify(statementsOf(template, { Type: '', Properties }));
      expect(said, other).not.toMatch(/ses:|cognito-idp:|TablesMailings/);
    }
  });
});

describe('users of the dashboard', () => {
  it('cannot change their own organization', () => {
    for (const [, client] of ofType(template, 'AWS::Cognito::UserPoolClient'))
      expect(client.Properties.WriteAttributes).toEqual(['name']);
  });
});

describe('an alarm of the mailer', () => {
  it.each([METRICS.failed, METRICS.unknown, METRICS.nobody, METRICS.ceiling])('reports %s', (MetricName) => {
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'ConversationService/prod',
      MetricName,
      AlarmDescription: Match.stringLikeRegexp('.{20,}'),
      TreatMissingData: 'notBreaching',
    });
  });

  it('reports e-mails that were never sent', () => {
    const alarms = ofType(template, 'AWS::CloudWatch::Alarm').filter(([name]) =>
      /^MailNotify(NotifyDisabled)?Dead/.test(name),
    );
    expect(alarms).toHaveLength(2);
  });
});

describe('a stack without a sender', () => {
  it('has no mailer', () => {
    const silent = synthesize({ mailFrom: '' });
    expect(() => functionNamed(silent, 'notify')).toThrow('there is no function notify');
    expect(JSON.stringify(silent.toJSON())).not.toContain('ses:SendEmail');
  });
});

describe('the settings of e-mail', () => {
  it.each([
    [{ mailFrom: 'ada' }, 'context mailFrom must be an e-mail address, not "ada"'],
    [{ mailFrom: 'Ada <ada@example.com>' }, 'context mailFrom must be an e-mail address'],
    [{ mailFrom: 'a@b@example.com' }, 'context mailFrom must be an e-mail address'],
    [{ dashboardOrigin: '' }, 'context mailFrom goes with dashboardOrigin'],
    [
      { oidcIssuer: 'https://id.example.com', oidcAudience: 'dashboard' },
      "context mailFrom goes with the stack's own user pool",
    ],
    [{ mailBudget: 0 }, 'context mailBudget must be a whole number of recipients a day from 1 to'],
    [{ mailCeiling: 0.5 }, 'context mailCeiling must be a whole number of recipients a day from 1 to'],
    [{ noticeSeconds: 0 }, 'context noticeSeconds must be a number of seconds from 1 to 2592000, not "0"'],
  ])('%j are refused in one line', (context, message) => {
    expect(() => synthesize(context)).toThrow(message);
  });

  it('may shorten the time between two e-mails, and limit their number', () => {
    const [, hasty] = functionNamed(synthesize(SETTINGS), 'notify');
    expect(Object(hasty.Properties.Environment).Variables).toMatchObject({
      NOTICE_SECONDS: '61',
      MAIL_BUDGET: '7',
      MAIL_CEILING: '8',
    });
  });
});

describe('the organization settings route', () => {
  it.each([
    ['on', {}],
    ['off', { mailFrom: '' }],
    ['off', OTHER_ISSUER],
  ])('reports the mailer as %s with %j', (expected, context) => {
    for (const name of ['read-organization', 'update-organization']) {
      const [, route] = functionNamed(synthesize(context), name);
      expect(Object(route.Properties.Environment).Variables.MAILER).toBe(expected);
    }
    const workers = ofType(synthesize(context), 'AWS::Lambda::Function').map(
      ([, { Properties }]) => Object(Properties.Environment).Variables?.FUNCTION_NAME,
    );
    expect(workers.includes('notify')).toBe(expected === 'on');
  });
});
