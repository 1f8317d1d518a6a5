import type { Properties, Shape } from './shapes.ts';
import { inertTypes, supported } from './supported.ts';

/** Path from the root of the package. */
export const COVERAGE_PAGE = 'COVERAGE.md';

/** A limit or rule of AWS that the local run enforces, and its module. */
export const ENFORCED: readonly { rule: string; module: string }[] = [
  {
    rule: 'a function may call what its role allows, action by action and resource by resource; a refusal is `AccessDeniedException`',
    module: 'src/permissions/permissions.ts',
  },
  {
    rule: 'a bus, rule or schedule delivers to a queue only where the policies of the queue and of its key let it',
    module: 'src/permissions/queue-access.ts',
  },
  {
    rule: 'what DynamoDB answers with `ValidationException`: empty or overlong key values, empty sets, unknown or unused names and values of expressions, items over 400 KB, too many entries in a batch or transaction, sequence numbers that AWS could not issue',
    module: 'src/permissions/dynamodb-rules.ts',
  },
  {
    rule: 'fair queues: messages of quiet message groups come before those of a group with more than a tenth of the messages in flight (and 30) or of the processing time of the last minute',
    module: 'src/engines/fair-groups.ts',
  },
  { rule: 'messages and batches of SQS up to 256 KiB', module: 'src/engines/message-sizes.ts' },
  {
    rule: '`PutEvents` up to ten entries and 256 KiB in all; a larger request fails whole',
    module: 'src/sources/put-events.ts',
  },
  { rule: 'events of 6 MiB for an invocation, responses of 6 MiB', module: 'src/functions/runtime.ts' },
  {
    rule: 'timeout, memory and reserved concurrency of a function; the variables of its environment and no others',
    module: 'src/functions/sandbox.ts',
  },
  {
    rule: 'recursive-loop detection: a function that comes after itself 16 times in a chain of messages is stopped, unless it says `RecursiveLoop: Allow`',
    module: 'src/functions/lineage.ts',
  },
  {
    rule: 'event source mappings: batch size and window, filters, partial failures, bisecting, age, tries, failure destination, tumbling windows, concurrency',
    module: 'src/sources/mapping-rules.ts',
  },
  {
    rule: 'API Gateway: body of 10 MB, integration timeout, throttling with a bucket for each method (`MethodSettings`), gateway responses, unknown paths that read `Authorization` as a signature',
    module: 'src/gateway/signature.ts',
  },
  {
    rule: 'a template may contain only resource types and properties of the table below; any other stops the start',
    module: 'src/template/template.ts',
  },
];

/** Differences from AWS that no template property shows. */
export const MISSING: readonly string[] = [
  'Nothing is encrypted. Keys matter only for who may use them.',
  'There are no metrics, alarms, traces or dashboards, and log lines are never deleted by age.',
  'Eventually consistent reads always see the latest write, and DynamoDB never throttles.',
  'SQS delivers each message once unless a worker fails; messages never expire.',
  'Streams keep records until they are read, not for 24 hours; each table has one shard.',
  'EventBridge has buses, rules with queues as targets, and schedules. Lambda’s API has `Invoke` and `ListEventSourceMappings`. SNS lists subscriptions and delivers nothing. Cognito has `ListUsers`. SES has `SendEmail`, which refuses addresses at `unavailable.test`.',
  'Access tokens are opaque; users stay signed in while the run lasts; password policy and second factor of the user pool are not applied.',
  'A function has one version, so a deployment is never gradual and never rolled back.',
  'At most 30 sandboxes of functions live at once, and 6 for each event source. A cold start may end the sandbox that was idle longest.',
  'The site and the API have loopback addresses: no CloudFront cache, no WAF, no certificate of a custom domain.',
];

/** Markdown page on the differences from AWS. */
export function coveragePage(): string {
  const types = Object.entries(supported).toSorted(([a], [b]) => a.localeCompare(b));
  return `# What runs as on AWS, and what does not

This page is written by \`npm run coverage -w aws-local\`, from the code that judges a template when a run starts (\`src/template/supported.ts\`).

## What it enforces

| As on AWS | Where |
|---|---|
${ENFORCED.map(({ rule, module }) => `| ${rule} | \`${module}\` |`).join('\n')}

## What AWS does and it does not

${MISSING.map((line) => `- ${line}`).join('\n')}

## Properties of resources

Properties that the local run acts on are not listed, unless it knows certain values only.

| Resource type | Known values | Ignored, because |
|---|---|---|
${types.map(([type, properties]) => renderRow(type, properties)).join('\n')}

## Resources that do nothing here

| Resource type | Because |
|---|---|
${Object.entries(inertTypes)
  .map(([type, reason]) => `| \`${type}\` | ${reason} |`)
  .join('\n')}
`;
}

function renderRow(type: string, properties: Properties): string {
  const parts = [...partsOf(properties)];
  const restrictions = parts.flatMap(({ path, shape }) =>
    shape.kind === 'oneOf' ? [`\`${path}\`: ${shape.values.map((value) => `\`${value}\``).join(', ')}`] : [],
  );
  const ignored = Map.groupBy(
    parts.flatMap(({ path, shape }) => (shape.kind === 'inert' ? [{ path, reason: shape.reason }] : [])),
    ({ reason }) => reason,
  );
  const reasons = [...ignored].map(
    ([reason, all]) => `${all.map(({ path }) => `\`${path}\``).join(', ')}: ${reason}`,
  );
  return `| \`${type}\` | ${restrictions.join('; ')} | ${reasons.join('; ')} |`;
}

function* partsOf(properties: Properties, prefix = ''): Generator<{ path: string; shape: Shape }> {
  for (const [name, shape] of Object.entries(properties)) {
    const path = prefix + name;
    const inner = shape.kind === 'list' ? shape.of : shape;
    if (inner.kind === 'object') yield* partsOf(inner.properties, `${path}.`);
    else yield { path, shape: inner };
  }
}
