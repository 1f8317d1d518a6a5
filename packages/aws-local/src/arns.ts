/** Region of every local ARN. */
export const REGION = 'us-east-1';
export const ACCOUNT = '000000000000';
export const PARTITION = 'aws';

const arn = (service: string, resource: string) =>
  `arn:${PARTITION}:${service}:${REGION}:${ACCOUNT}:${resource}`;

export const tableArn = (name: string) => arn('dynamodb', `table/${name}`);

export const indexArn = (table: string, index: string) => `${tableArn(table)}/index/${index}`;

export const queueArn = (name: string) => arn('sqs', name);

export const functionArn = (name: string) => arn('lambda', `function:${name}`);

/** Secrets Manager appends six random characters; here they are constant. */
export const secretArn = (name: string) => arn('secretsmanager', `secret:${name}-000000`);

export const keyArn = (id: string) => arn('kms', `key/${id}`);

export const topicArn = (name: string) => arn('sns', name);

export const userPoolArn = (id: string) => arn('cognito-idp', `userpool/${id}`);

/** @param resource such as `identity/example.com` */
export const sesArn = (resource: string) => arn('ses', resource);

export const busArn = (name: string) => arn('events', `event-bus/${name}`);

/** A rule of the default bus has no bus name in its ARN. */
export const ruleArn = (bus: string, name: string) =>
  arn('events', bus === DEFAULT_BUS ? `rule/${name}` : `rule/${bus}/${name}`);

export const DEFAULT_BUS = 'default';

/** @param streamArn `arn:aws:dynamodb:…:table/NAME/stream/…` */
export const tableOfStream = (streamArn: string): string => /:table\/([^/]+)\//.exec(streamArn)?.[1] ?? '';
