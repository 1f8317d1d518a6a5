import { expect, it } from 'vitest';
import { casesOf } from '../support/cases.ts';
import { references, watchedBy } from './reading.ts';
import { functionNamed, invokes, ofType, synthesize } from './synthesize.ts';

it.each(casesOf<('staging' | 'prod')[]>(['prod'], ['staging', 'prod']))(
  "new code of the delivery engine is deployed at once, regardless of alarms, on the operator's request in stage %s",
  (stage) => {
    const releases = ofType(synthesize({ stage, release: 'at-once' }), 'AWS::CodeDeploy::DeploymentGroup');
    expect(releases).toHaveLength(2);
    for (const [, { Properties }] of releases) {
      expect(JSON.stringify(Properties.DeploymentConfigName)).toContain('LambdaAllAtOnce');
      expect(Object(Properties.AlarmConfiguration).Enabled).toBe(false);
    }
  },
);

it('a deployment can be undone by the alarms of what callers of the API see', () => {
  const template = synthesize();
  const arns = template.toJSON().Outputs.ReleaseAlarmArns.Value;
  const watched = ofType(template, 'AWS::CloudWatch::Alarm').filter(([id]) => references(arns).includes(id));
  expect(watched.flatMap(([, alarm]) => watchedBy(alarm).map(({ metric }) => metric))).toEqual(
    expect.arrayContaining(['5XXError', 'Latency']),
  );
});

it("reserved concurrency equals the concurrency of a function's queues", () => {
  const template = synthesize();
  const [id, { Properties }] = functionNamed(template, 'dispatch');
  const used = ofType(template, 'AWS::Lambda::EventSourceMapping')
    .filter(([, mapping]) => invokes(template, mapping.Properties.FunctionName, id))
    .reduce(
      (sum, [, mapping]) => sum + Number(Object(mapping.Properties.ScalingConfig).MaximumConcurrency),
      0,
    );
  expect(Properties.ReservedConcurrentExecutions).toBe(used);
});
