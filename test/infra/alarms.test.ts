import { describe, expect, it } from 'vitest';
import * as metricNames from '../../functions/aws/metrics.ts';
import { WORKERS } from '../../lib/infra/bundle.ts';
import { runbookPages } from '../support/runbooks.ts';
import { EVERYTHING, SETTINGS, STAGES } from './contexts.ts';
import { nameOf, ourFunctions, references, resourcesOf, watchedBy } from './reading.ts';
import { ofType, synthesize } from './synthesize.ts';

const template = synthesize();
const alarms = ofType(template, 'AWS::CloudWatch::Alarm');
const described = ({ Properties }: (typeof alarms)[number][1]): string => String(Properties.AlarmDescription);

const pages = new Map(runbookPages().map((page) => [page.name, page]));

describe('every alarm', () => {
  it.each(alarms)('%s describes the symptom, and links to its section in the runbooks', (_, alarm) => {
    const [, says = '', page = '', section = ''] =
      /^(.+[.]) docs\/runbooks\/([a-z-]+\.md)#([a-z0-9-]+)$/.exec(described(alarm)) ?? [];
    expect(says.length).toBeGreaterThan(20);
    expect(pages.get(page)?.anchors).toContain(section);
    // CloudWatch accepts no longer description.
    expect(described(alarm).length).toBeLessThanOrEqual(1024);
  });

  it('links to the published runbooks when their URL is set', () => {
    for (const [id, alarm] of ofType(synthesize(SETTINGS), 'AWS::CloudWatch::Alarm'))
      expect(described(alarm), id).toContain(` ${SETTINGS.runbookUrl}/`);
  });

  it.each(STAGES)('notifies the topic at its beginning and its end, in stage %s', (stage) => {
    const staged = synthesize({ ...EVERYTHING, stage });
    const [[topic] = []] = ofType(staged, 'AWS::SNS::Topic');
    for (const [id, { Properties }] of ofType(staged, 'AWS::CloudWatch::Alarm')) {
      for (const actions of [Properties.AlarmActions, Properties.OKActions])
        expect(references(actions), id).toEqual([topic]);
      expect(Properties, id).not.toHaveProperty('ActionsEnabled');
    }
  });

  it.each(alarms)('%s treats missing data as healthy, unless it alarms on missing data', (_, alarm) => {
    const isForSilence = alarm.Properties.ComparisonOperator === 'LessThanThreshold';
    expect(alarm.Properties.TreatMissingData).toBe(isForSilence ? 'missing' : 'notBreaching');
    // A metric that never had data, as in a first deployment, has no change of state to report.
    expect(alarm.Properties.InsufficientDataActions).toEqual(
      isForSilence ? alarm.Properties.AlarmActions : undefined,
    );
    if (isForSilence) expect(watchedBy(alarm)).toMatchObject([{ metric: 'Invocations' }]);
  });

  it.each(alarms)('%s uses an existing metric', (_, alarm) => {
    const { METRICS, ...groups } = metricNames;
    const ours = new Set(
      Object.values(groups).flatMap((one) => (typeof one === 'string' ? [one] : Object.values(one))),
    );
    const ids = resourcesOf(template);
    for (const { metric, namespace, of } of watchedBy(alarm)) {
      if (namespace.startsWith(METRICS.namespace)) {
        expect(namespace).toBe(`${METRICS.namespace}/prod`);
        expect(of).toEqual({ service: METRICS.serviceName });
        expect(ours).toContain(metric);
      } else for (const id of references(of)) expect([...ids.keys()]).toContain(id);
    }
  });

  it("keeps the evaluation period within CloudWatch's limit: a day, or a week with periods of an hour", () => {
    for (const [id, { Properties }] of alarms) {
      const periods = (Properties.Metrics as { MetricStat?: { Period: number } }[] | undefined)?.flatMap(
        ({ MetricStat }) => MetricStat?.Period ?? [],
      ) ?? [Number(Properties.Period)];
      const seconds = Math.max(...periods) * Number(Properties.EvaluationPeriods);
      expect(seconds, id).toBeLessThanOrEqual(86_400);
    }
  });
});

it.each(['staging', 'prod'] as const)(
  'on the alarm that npm run verify sets, nothing of stage %s is rolled back',
  (stage) => {
    const staged = synthesize({ stage });
    const { Value } = staged.toJSON().Outputs.TestAlarmName;
    const [tested] = references(Value);
    expect(ofType(staged, 'AWS::CloudWatch::Alarm').map(([id]) => id)).toContain(tested);
    const watched = ofType(staged, 'AWS::CodeDeploy::DeploymentGroup').flatMap(([, { Properties }]) =>
      references(Object(Properties.AlarmConfiguration).Alarms),
    );
    expect(watched).not.toEqual([]);
    expect(watched).not.toContain(tested);
  },
);

describe('the runbooks', () => {
  it('have each alarm in their table, with the section that the alarm links to', () => {
    const table = [
      ...(pages.get('README.md')?.text ?? '').matchAll(/^\| (`.+`) \| \[.+\]\((.+)\) \|$/gm),
    ].flatMap(([, names = '', link = '']) =>
      [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => ({ name, link })),
    );
    // Of the matching rows, the longest name counts, so that a new worker needs no row of its own.
    const listed = (id: string) => {
      const rows = table.filter(({ name }) =>
        new RegExp(`^${name.replaceAll('…', '.*')}[0-9A-F]{8}$`).test(id),
      );
      const longest = Math.max(...rows.map(({ name }) => name.length));
      return rows.filter(({ name }) => name.length === longest);
    };
    for (const [id, alarm] of alarms)
      expect(
        listed(id).map(({ link }) => link),
        `docs/runbooks/README.md has ${id} in its table once`,
      ).toEqual([described(alarm).split(' docs/runbooks/').at(-1)]);
    for (const { name } of table)
      expect(
        alarms.some(([id]) => listed(id).some((row) => row.name === name)),
        `${name} is an alarm`,
      ).toBe(true);
  });
});

describe('the dashboard of operations', () => {
  const [[, board] = []] = ofType(template, 'AWS::CloudWatch::Dashboard');
  const body = JSON.stringify(board?.Properties.DashboardBody);

  it('has every metric that the functions write', () => {
    const { METRICS, ...groups } = metricNames;
    const names = Object.values(groups)
      .flatMap((group) => (typeof group === 'string' ? [group] : Object.values(group)))
      .filter((name) => typeof name === 'string');
    expect(names.length).toBeGreaterThan(20);
    for (const name of names) expect(body).toContain(`\\"${METRICS.namespace}/prod\\",\\"${name}\\"`);
  });

  it('has every queue and every table', () => {
    const there = references(board?.Properties.DashboardBody);
    for (const type of ['AWS::SQS::Queue', 'AWS::DynamoDB::GlobalTable'])
      for (const [id] of ofType(template, type)) expect(there).toContain(id);
  });

  it('has every function, with its errors, throttles and invocations', () => {
    for (const [, fn] of ourFunctions(template))
      for (const metric of ['Errors', 'Throttles', 'Invocations'])
        expect(body).toContain(
          `\\"AWS/Lambda\\",\\"${metric}\\",\\"FunctionName\\",\\"conversation-service-prod-${nameOf(fn)}\\"`,
        );
    expect(WORKERS.length).toBeGreaterThan(10);
  });

  it('begins with symptoms that customers notice, and ends with costs', () => {
    const headings = [...body.matchAll(/## ([A-Z][^"\\]+)/g)].map(([, heading]) => heading);
    expect(headings).toEqual(['Are customers affected?', 'Where is it stuck?', 'Why?', 'What does it cost?']);
  });

  it('names existing runbooks, as links where they are published', () => {
    const named = [...body.matchAll(/docs\/runbooks\/([A-Za-z-]+\.md)/g)].map(([, page = '']) => page);
    expect(named.length).toBeGreaterThan(5);
    for (const page of named) expect([...pages.keys()]).toContain(page);
    const [[, linked] = []] = ofType(synthesize(SETTINGS), 'AWS::CloudWatch::Dashboard');
    expect(JSON.stringify(linked?.Properties.DashboardBody)).toContain(
      '[backlog](https://wiki.example.com/runbooks/backlog.md)',
    );
  });
});
