import type { Template } from 'aws-cdk-lib/assertions';
import { ACCOUNT, REGION } from 'aws-local/arns.ts';
import { allows } from 'aws-local/permissions/permissions.ts';
import {
  allowsService,
  parseResourcePolicy,
  type ResourceStatement,
} from 'aws-local/permissions/resource-policies.ts';
import { parseStatements } from 'aws-local/permissions/statements.ts';
import { References } from 'aws-local/template/references.ts';
import type { SynthesizedResource } from './synthesize.ts';

/*
 * Accesses of AWS services, in their own name, to the resources of a template, and whether the policies of
 * the resources, and of the keys that encrypt them, allow them.
 */

type Properties = Readonly<Record<string, unknown>>;
interface Resource {
  id: string;
  arn: string;
  properties: Properties;
}

/** An access of a service: the source is the resource in whose name it acts. */
interface Edge {
  service: string;
  source: { id: string; arn: string };
  action: string;
  target: string;
}

const arn = (service: string, name: string, account = ACCOUNT, region = REGION): string =>
  `arn:aws:${service}:${region}:${account}:${name}`;

/** The ARN of a resource, by its type; its `Arn` and, for some, its `Ref`. */
const ARNS: Readonly<Record<string, (id: string, properties: Properties) => string>> = {
  'AWS::SQS::Queue': (id) => arn('sqs', id),
  'AWS::SNS::Topic': (id) => arn('sns', id),
  'AWS::KMS::Key': (id) => arn('kms', `key/${id}`),
  'AWS::Lambda::Function': (id, { FunctionName }) => arn('lambda', `function:${FunctionName ?? id}`),
  'AWS::Logs::LogGroup': (id) => arn('logs', `log-group:${id}:*`),
  'AWS::Events::EventBus': (_, { Name }) => arn('events', `event-bus/${Name}`),
  'AWS::CloudWatch::Alarm': (id) => arn('cloudwatch', `alarm:${id}`),
  'AWS::CloudFront::Distribution': (id) => arn('cloudfront', `distribution/${id}`, ACCOUNT, ''),
  'AWS::S3::Bucket': (id) => `arn:aws:s3:::${id}`,
  'AWS::IAM::Role': (id) => arn('iam', `role/${id}`, ACCOUNT, ''),
};

/** Types whose `Ref` is their ARN. */
const REF_IS_ARN = new Set(['AWS::SNS::Topic', 'AWS::Lambda::Alias', 'AWS::Lambda::Version']);

/** The edges of a template that its policies do not allow, by name. */
export function refusedEdges(template: Template): string[] {
  const content: { Resources: Record<string, SynthesizedResource> } = Object(template.toJSON());
  const references = referencesOf(content.Resources);
  // A network has neither policies nor keys, and zones that only an account knows.
  const judged = Object.entries(content.Resources).filter(([, { Type }]) => !Type.startsWith('AWS::EC2::'));
  const resolved = new Map(
    judged.map(([id, { Type, Properties }]): [string, Resource & { type: string }] => {
      const properties: Properties = Object(references.resolve(Properties ?? {}));
      return [id, { id, type: Type, arn: arnOf(id, Type, properties, references), properties }];
    }),
  );
  const all = [...resolved.values()];
  const typed = (type: string): Resource[] => all.filter((one) => one.type === type);
  const byArn = new Map(all.map((one) => [one.arn, one]));
  const policies = resourcePolicies(typed, byArn, references);
  const keys = keysByName(typed, references);

  const judge = ({ service, source, action, target }: Edge): string[] => {
    const said = `${source.id}: ${service} may not perform`;
    const resource = byArn.get(target.replace(/\/\*$/, ''));
    const context = contextOf(source.arn);
    const refused = allowsService(policies.get(resource?.arn ?? target) ?? [], {
      service,
      action,
      resource: target,
      context,
    })
      ? []
      : [`${said} ${action} on ${resource?.id ?? target}`];
    return [...refused, ...(resource ? judgeKey(said, service, context, resource, keys) : [])];
  };

  return [
    ...edgesOf(typed, resolved).flatMap(judge),
    ...ownKeyEdges(typed, keys),
    ...assumedRoles(typed, byArn),
    ...invokingRoles(typed, byArn),
    ...deadLettersOfBuses(typed, byArn),
  ];
}

const contextOf = (sourceArn: string): Record<string, string> => ({
  'aws:SourceArn': sourceArn,
  'aws:SourceAccount': ACCOUNT,
  'aws:SecureTransport': 'true',
});

/** All edges between resources; those to keys follow from them. */
function edgesOf(typed: (type: string) => Resource[], byId: ReadonlyMap<string, Resource>): Edge[] {
  const edges: Edge[] = [];
  const add = (service: string, source: Edge['source'], target: unknown): void => {
    const to = String(target);
    const kind = ['sqs', 'sns', 'lambda'].find((name) => to.startsWith(`arn:aws:${name}:`));
    const action =
      kind && { sqs: 'sqs:SendMessage', sns: 'sns:Publish', lambda: 'lambda:InvokeFunction' }[kind];
    edges.push({ service, source, action: action ?? 'an action unknown to this check', target: to });
  };
  const forEachResource = (
    type: string,
    read: (properties: Properties, resource: Resource) => void,
  ): void => {
    for (const resource of typed(type)) read(resource.properties, resource);
  };
  forEachResource('AWS::CloudWatch::Alarm', ({ AlarmActions, OKActions, InsufficientDataActions }, alarm) => {
    const actions = [AlarmActions, OKActions, InsufficientDataActions]
      .flat()
      .filter((it) => it !== undefined);
    for (const action of new Set(actions)) add('cloudwatch.amazonaws.com', alarm, action);
  });
  forEachResource('AWS::Events::Rule', ({ Targets }, rule) => {
    for (const { Arn, DeadLetterConfig } of Object(Targets ?? [])) {
      add('events.amazonaws.com', rule, Arn);
      if (DeadLetterConfig) add('events.amazonaws.com', rule, DeadLetterConfig.Arn);
    }
  });
  forEachResource('AWS::Events::EventBus', ({ DeadLetterConfig }, bus) => {
    if (DeadLetterConfig) add('events.amazonaws.com', bus, Object(DeadLetterConfig).Arn);
  });
  forEachResource('AWS::SNS::Subscription', ({ Endpoint, TopicArn, Protocol }, { id }) => {
    if (Protocol === 'sqs' || Protocol === 'lambda')
      add('sns.amazonaws.com', { id, arn: String(TopicArn) }, Endpoint);
  });
  forEachResource('AWS::ApiGateway::Method', (method, { id }) => {
    const { Type, Uri, Credentials } = Object(method.Integration);
    const [, fn] = /functions\/(arn:aws:lambda:[^/]+)\/invocations$/.exec(String(Uri)) ?? [];
    if (Type === 'AWS_PROXY' && Credentials === undefined)
      for (const stage of typed('AWS::ApiGateway::Stage'))
        add('apigateway.amazonaws.com', { id, arn: executeApiArn(method, stage, byId) }, fn);
  });
  forEachResource('AWS::CloudFront::Distribution', ({ DistributionConfig }, distribution) => {
    for (const { DomainName, OriginAccessControlId } of Object(DistributionConfig).Origins) {
      const bucket = typed('AWS::S3::Bucket').find(({ id }) => String(DomainName).startsWith(`${id}.`));
      if (OriginAccessControlId && bucket)
        for (const [action, target] of [
          ['s3:GetObject', `${bucket.arn}/*`],
          ['s3:ListBucket', bucket.arn],
        ] as const)
          edges.push({ service: 'cloudfront.amazonaws.com', source: distribution, action, target });
    }
  });
  return edges;
}

/**
 * `arn:aws:execute-api:REGION:ACCOUNT:API/STAGE/METHOD/PATH`, as API Gateway names what it invokes a function
 * for.
 */
function executeApiArn(method: Properties, stage: Resource, byId: ReadonlyMap<string, Resource>): string {
  const parts: unknown[] = [];
  for (let at = byId.get(String(method.ResourceId)); at; at = byId.get(String(at.properties.ParentId)))
    parts.unshift(at.properties.PathPart);
  const path = [stage.properties.StageName, method.HttpMethod, ...parts].join('/');
  return arn('execute-api', `${method.RestApiId}/${path}`);
}

/** Keys that services use for resources of their own: those of log groups and of buses. */
function ownKeyEdges(typed: (type: string) => Resource[], keys: Keys): string[] {
  const groups = typed('AWS::Logs::LogGroup').flatMap((group) =>
    refusedBy(
      keys,
      group.properties.KmsKeyId,
      ['kms:Encrypt', 'kms:Decrypt', 'kms:ReEncryptFrom', 'kms:GenerateDataKey', 'kms:DescribeKey'],
      {
        service: `logs.${REGION}.amazonaws.com`,
        context: {
          'kms:EncryptionContext:aws:logs:arn': arn(
            'logs',
            `log-group:${group.properties.LogGroupName ?? group.id}`,
          ),
        },
      },
    ).map((action) => `${group.id}: logs.${REGION}.amazonaws.com may not perform ${action} on its key`),
  );
  const buses = typed('AWS::Events::EventBus').flatMap((bus) =>
    refusedBy(
      keys,
      bus.properties.KmsKeyIdentifier,
      ['kms:DescribeKey', 'kms:GenerateDataKey', 'kms:Decrypt'],
      {
        service: 'events.amazonaws.com',
        context: { ...contextOf(bus.arn), 'kms:EncryptionContext:aws:events:event-bus:arn': bus.arn },
      },
    ).map((action) => `${bus.id}: events.amazonaws.com may not perform ${action} on its key`),
  );
  return [...groups, ...buses];
}

/** Roles that a service has to assume, and the permissions that the gateway needs to write logs. */
function assumedRoles(typed: (type: string) => Resource[], byArn: ReadonlyMap<string, Resource>): string[] {
  const assumed: [service: string, type: string, property: string][] = [
    ['lambda.amazonaws.com', 'AWS::Lambda::Function', 'Role'],
    ['codedeploy.amazonaws.com', 'AWS::CodeDeploy::DeploymentGroup', 'ServiceRoleArn'],
    ['apigateway.amazonaws.com', 'AWS::ApiGateway::Account', 'CloudWatchRoleArn'],
    ['apigateway.amazonaws.com', 'AWS::ApiGateway::Method', 'Credentials'],
  ];
  const refused = assumed.flatMap(([service, type, property]) =>
    typed(type).flatMap(({ id, properties }) => {
      const role = properties[property] ?? Object(properties.Integration)[property];
      if (type === 'AWS::ApiGateway::Method' && role === undefined) return [];
      const trust = Object(byArn.get(String(role))?.properties.AssumeRolePolicyDocument);
      const isTrusted = [trust.Statement ?? []]
        .flat()
        .some(
          ({ Effect, Action, Principal, Condition }) =>
            Effect === 'Allow' &&
            Condition === undefined &&
            Action === 'sts:AssumeRole' &&
            [Principal?.Service]
              .flat()
              .some((name) => String(name).replace(/\.us-east-1\./, '.') === service),
        );
      return isTrusted ? [] : [`${id}: ${service} may not assume its role`];
    }),
  );
  const [account] = typed('AWS::ApiGateway::Account');
  const logging = JSON.stringify(
    byArn.get(String(account?.properties.CloudWatchRoleArn))?.properties.ManagedPolicyArns ?? [],
  );
  const mayLog = logging.includes('AmazonAPIGatewayPushToCloudWatchLogs');
  return [
    ...refused,
    ...(typed('AWS::ApiGateway::Stage').length > 0 && !mayLog
      ? ['the gateway has no role that may write logs']
      : []),
  ];
}

/** Functions that the role of an API method does not allow it to invoke. */
const invokingRoles = (typed: (type: string) => Resource[], byArn: ReadonlyMap<string, Resource>): string[] =>
  typed('AWS::ApiGateway::Method').flatMap(({ id, properties }) => {
    const { Credentials, Uri } = Object(properties.Integration);
    if (Credentials === undefined) return [];
    const [, fn = ''] = /functions\/(arn:aws:lambda:[^/]+)\/invocations$/.exec(String(Uri)) ?? [];
    const policies: { PolicyDocument: unknown }[] = Object(byArn.get(Credentials)?.properties.Policies ?? []);
    const statements = policies.flatMap(({ PolicyDocument }) => parseStatements(PolicyDocument, Credentials));
    return byArn.has(fn) && allows(statements, 'lambda:InvokeFunction', fn)
      ? []
      : [`${id}: its role does not allow lambda:InvokeFunction on ${byArn.get(fn)?.id ?? fn}`];
  });

/** A bus's dead-letter queue receives the events whose key cannot be used, so it must not need that key. */
const deadLettersOfBuses = (
  typed: (type: string) => Resource[],
  byArn: ReadonlyMap<string, Resource>,
): string[] =>
  typed('AWS::Events::EventBus').flatMap(({ id, properties: { KmsKeyIdentifier, DeadLetterConfig } }) => {
    const queue = byArn.get(Object(DeadLetterConfig).Arn);
    const isShared = queue?.properties.KmsMasterKeyId === KmsKeyIdentifier && KmsKeyIdentifier !== undefined;
    return isShared
      ? [`${id}: its dead-letter queue ${queue?.id} needs the key whose failure it is for`]
      : [];
  });

type Keys = ReadonlyMap<unknown, ResourceStatement[]>;

/** The actions that a service needs on the key of a queue, topic or bucket that it writes to or reads. */
function judgeKey(
  said: string,
  service: string,
  context: Record<string, string>,
  { id, properties }: Resource,
  keys: Keys,
): string[] {
  const key = properties.KmsMasterKeyId;
  return refusedBy(keys, key, ['kms:GenerateDataKey', 'kms:Decrypt'], { service, context }).map(
    (action) => `${said} ${action} on the key of ${id}`,
  );
}

/** The actions on a key that are not allowed; a key outside of the template allows none to services. */
function refusedBy(
  keys: Keys,
  key: unknown,
  actions: readonly string[],
  { service, context }: { service: string; context: Record<string, string> },
): string[] {
  if (key === undefined) return [];
  const statements = keys.get(key) ?? [];
  const resource = String(key);
  return actions.filter((action) => !allowsService(statements, { service, action, resource, context }));
}

function keysByName(typed: (type: string) => Resource[], references: References): Keys {
  return new Map(
    typed('AWS::KMS::Key').flatMap(({ id, arn: keyArn, properties }) => {
      const statements = parseResourcePolicy(properties.KeyPolicy, id);
      return [id, keyArn, references.resolve({ Ref: id })].map((name) => [name, statements] as const);
    }),
  );
}

/** Statements by the ARN of the resource that they are attached to. */
function resourcePolicies(
  typed: (type: string) => Resource[],
  byArn: ReadonlyMap<string, Resource>,
  references: References,
): Map<string, ResourceStatement[]> {
  const byRef = new Map([...byArn.values()].map((one) => [references.resolve({ Ref: one.id }), one.arn]));
  const policies = new Map<string, ResourceStatement[]>();
  const attach = (target: unknown, statements: ResourceStatement[]): void => {
    const key = byRef.get(target) ?? String(target);
    policies.set(key, [...(policies.get(key) ?? []), ...statements]);
  };
  for (const [type, property] of [
    ['AWS::SQS::QueuePolicy', 'Queues'],
    ['AWS::SNS::TopicPolicy', 'Topics'],
    ['AWS::S3::BucketPolicy', 'Bucket'],
  ] as const)
    for (const { id, properties } of typed(type))
      for (const target of [properties[property]].flat())
        attach(target, parseResourcePolicy(properties.PolicyDocument, id));
  for (const { properties } of typed('AWS::Lambda::Permission')) {
    const { Action, FunctionName, Principal, SourceArn, SourceAccount } = properties;
    attach(FunctionName, [
      {
        effect: 'Allow',
        principals: [String(Principal)],
        actions: [String(Action)],
        resources: ['*'],
        conditions: {
          ...(SourceArn === undefined ? {} : { ArnLike: { 'aws:SourceArn': [String(SourceArn)] } }),
          ...(SourceAccount === undefined
            ? {}
            : { StringEquals: { 'aws:SourceAccount': [String(SourceAccount)] } }),
        },
      },
    ]);
  }
  return policies;
}

/** References to any resource; one without an ARN here is named by its logical id. */
function referencesOf(resources: Readonly<Record<string, SynthesizedResource>>): References {
  const references = new References('Stack');
  for (const [id, { Type, Properties = {} }] of Object.entries(resources)) {
    const attributes = new Proxy<Record<string, string>>({}, { get: (_, name) => `${id}.${String(name)}` });
    references.define(id, { ref: id, attributes });
    const ownArn = ARNS[Type]?.(id, Properties);
    if (ownArn === undefined) continue;
    const named = { Arn: ownArn, TopicArn: ownArn, Name: String(Properties.Name ?? id) };
    references.define(id, {
      ref: REF_IS_ARN.has(Type) ? ownArn : refOf(id, Type, Properties),
      attributes: new Proxy<Record<string, string>>(named, {
        get: (known, name) => Reflect.get(known, name) ?? `${id}.${String(name)}`,
      }),
    });
  }
  // Named by its parent, which is defined by now.
  for (const [id, { Type, Properties }] of Object.entries(resources)) {
    if (Type === 'AWS::Lambda::Alias' || Type === 'AWS::Lambda::Version') {
      const fn = arn('lambda', `function:${references.resolve(Properties.FunctionName)}`);
      references.define(id, { ref: `${fn}:${Properties.Name ?? 1}`, attributes: { Version: '1' } });
    }
    if (Type === 'AWS::Events::Rule') {
      const bus = references.resolve(Properties.EventBusName);
      const name = bus === undefined ? id : `${bus}/${id}`;
      references.define(id, { ref: id, attributes: { Arn: arn('events', `rule/${name}`) } });
    }
  }
  return references;
}

const refOf = (id: string, type: string, { FunctionName, Name }: Properties): string =>
  type === 'AWS::Lambda::Function'
    ? String(FunctionName ?? id)
    : type === 'AWS::Events::EventBus'
      ? String(Name ?? id)
      : id;

/** A resource without an ARN here is named by its `Ref`. */
const arnOf = (id: string, type: string, properties: Properties, references: References): string =>
  String(
    type === 'AWS::Events::Rule'
      ? references.resolve({ 'Fn::GetAtt': [id, 'Arn'] })
      : (ARNS[type]?.(id, properties) ?? references.resolve({ Ref: id })),
  );
