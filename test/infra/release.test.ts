import { describe, expect, it } from 'vitest';
import { references } from './reading.ts';
import { functionNamed, invokes, ofType, synthesize } from './synthesize.ts';

const ENGINE = ['dispatch', 'fan-out'] as const;
const releasesOf = (template: ReturnType<typeof synthesize>) =>
  ofType(template, 'AWS::CodeDeploy::DeploymentGroup').map(([, { Properties }]) => Properties);

describe.each(['staging', 'prod'])('new code of the delivery engine in stage %s', (stage) => {
  const template = synthesize({ stage });
  const aliases = ofType(template, 'AWS::Lambda::Alias');

  it.each(ENGINE)('of %s gets its alias from CodeDeploy', (name) => {
    const [id] = functionNamed(template, name);
    const [[, alias] = [], ...others] = aliases.filter(
      ([, { Properties }]) => references(Properties.FunctionName).includes(id) && Properties.Name === 'live',
    );
    expect(alias).toBeDefined();
    expect(others).toEqual([]);
    const { CodeDeployLambdaAliasUpdate } = Object(Object(alias).UpdatePolicy);
    expect(references(CodeDeployLambdaAliasUpdate)).toEqual([
      expect.stringMatching(/Application/),
      expect.stringMatching(/Release/),
    ]);
    const sources = ofType(template, 'AWS::Lambda::EventSourceMapping').filter(([, { Properties }]) =>
      invokes(template, Properties.FunctionName, id),
    );
    for (const [source, { Properties }] of sources)
      if (!/Stalled/.test(source)) expect(JSON.stringify(Properties.FunctionName), source).toContain(':live');
  });

  it('reads the queue that the previous version does not know from the start, completely', () => {
    const [stalled, ...others] = ofType(template, 'AWS::Lambda::EventSourceMapping').filter(([id]) =>
      /Stalled/.test(id),
    );
    expect(others).toEqual([]);
    const [newest] = aliases.find(([, { Properties }]) => Properties.Name === 'newest') ?? [];
    expect(references(stalled?.[1].Properties.FunctionName)).toEqual([newest]);
    expect(ofType(template, 'AWS::Lambda::Alias').find(([id]) => id === newest)?.[1]).not.toHaveProperty(
      'UpdatePolicy',
    );
  });

  it('receives traffic step by step', () => {
    const config = JSON.stringify(
      releasesOf(template).map(({ DeploymentConfigName }) => DeploymentConfigName),
    );
    expect(config).toContain(
      stage === 'prod' ? 'LambdaLinear10PercentEvery3Minutes' : 'LambdaCanary10Percent5Minutes',
    );
  });

  it('is rolled back by an alarm that it may have caused', () => {
    const releases = releasesOf(template);
    expect(releases).toHaveLength(ENGINE.length);
    for (const { AlarmConfiguration, AutoRollbackConfiguration } of releases) {
      expect(AutoRollbackConfiguration).toEqual({
        Enabled: true,
        Events: expect.arrayContaining(['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM']),
      });
      expect(Object(AlarmConfiguration).Enabled).toBe(true);
      const alarms = references(AlarmConfiguration);
      for (const kind of [/Fails/, /DeadLettersArrive|FanOutsFailAgain/, /FirstAttemptsLate/, /ReceiptsLate/])
        expect(alarms).toContainEqual(expect.stringMatching(kind));
    }
    expect(releases.flatMap(({ AlarmConfiguration }) => references(AlarmConfiguration))).toContainEqual(
      expect.stringMatching(/FanOutBehind/),
    );
  });

  it('has a previous version to roll back to', () => {
    for (const [id, { DeletionPolicy }] of ofType(template, 'AWS::Lambda::Version'))
      expect(DeletionPolicy, id).toBe('Retain');
  });

  it("is deployed at once, regardless of alarms, on the operator's request", () => {
    for (const release of releasesOf(synthesize({ stage, release: 'at-once' }))) {
      expect(JSON.stringify(release.DeploymentConfigName)).toContain('LambdaAllAtOnce');
      expect(Object(release.AlarmConfiguration).Enabled).toBe(false);
    }
  });
});

describe('in stage dev', () => {
  const template = synthesize({ stage: 'dev' });

  it('an alias moves at once', () => {
    const live = ofType(template, 'AWS::Lambda::Alias').filter(
      ([, { Properties }]) => Properties.Name === 'live',
    );
    expect(live).toHaveLength(ENGINE.length);
    expect(JSON.stringify(template.toJSON())).not.toContain('AWS::CodeDeploy');
  });
});

describe('reserved concurrency', () => {
  const reservedIn = (context: Record<string, unknown>) =>
    Object.fromEntries(
      ['dispatch', 'fan-out', 'delivery-stream', 'publish', 'create-message'].map((name) => [
        name,
        functionNamed(synthesize(context), name)[1].Properties.ReservedConcurrentExecutions,
      ]),
    );

  it('is set for the engine in production, so that neither it nor the API can starve the other', () => {
    expect(reservedIn({})).toEqual({ dispatch: 230, 'fan-out': 100, 'delivery-stream': 60, publish: 40 });
  });

  it("equals the concurrency of a function's queues", () => {
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

  it('is absent in development', () => {
    expect(reservedIn({ stage: 'dev' })).toEqual({});
  });
});
