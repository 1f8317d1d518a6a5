import { loadAwsServiceSpecSync } from '@aws-cdk/aws-service-spec';
import type { Resource } from './assembly.ts';

/** Properties of which AWS accepts each value once, of types whose resources it identifies otherwise. */
const UNIQUE: Readonly<Record<string, string[]>> = {
  'AWS::ApiGateway::Resource': ['RestApiId', 'ParentId', 'PathPart'],
  'AWS::Cognito::UserPoolDomain': ['UserPoolId', 'CustomDomainConfig'],
  'AWS::Lambda::EventSourceMapping': ['EventSourceArn', 'FunctionName'],
};

function uniqueValue(property: string, value: unknown): unknown {
  // A pool has one prefix of Amazon's domain, and one domain of its own.
  if (property === 'CustomDomainConfig') return typeof value;
  // A path has one variable part below it, under any name.
  return typeof value === 'string' ? value.replace(/^\{.*\}$/, 'a variable part') : value;
}

/** A log group's entries expire, and a nested stack is compared itself. */
const WITHOUT_DATA = ['AWS::Logs::LogGroup', 'AWS::CloudFormation::Stack'];

let database: ReturnType<typeof loadAwsServiceSpecSync> | undefined;

function modelOf(type: string) {
  // Loading it takes a second.
  database ??= loadAwsServiceSpecSync();
  return database.lookup('resource', 'cloudFormationType', 'equals', type)[0];
}

/** Whether deleting the resource loses what it holds. */
export const isData = ({ Type }: Resource): boolean =>
  modelOf(Type)?.isStateful === true && !WITHOUT_DATA.includes(Type);

export const isRetained = (policy = ''): boolean => /^(?:Retain|Snapshot)/.test(policy);

/** What AWS allows one resource of the type to have; undefined if it makes the name itself. */
export function nameOf({ Type, Properties = {} }: Resource): unknown[] | undefined {
  const names = namingProperties(Type).map((property) => uniqueValue(property, Properties[property]));
  // The names of CloudFront's policies are within their only property.
  if (names.length === 0 && Type.startsWith('AWS::CloudFront::'))
    names.push(...Object.values(Properties).map((value) => Object(value).Name));
  return names.includes(undefined) || names.length === 0 ? undefined : names;
}

/** A type's identifiers, if a template can set them; else its name and others that cannot be changed. */
function namingProperties(type: string): string[] {
  const { primaryIdentifier = [], properties = {} } = modelOf(type) ?? {};
  const identifiers = UNIQUE[type] ?? primaryIdentifier;
  if (identifiers.length > 0 && identifiers.every((name) => name in properties)) return identifiers;
  const names = Object.keys(properties).filter(
    (name) => name.endsWith('Name') && properties[name]?.causesReplacement === 'yes',
  );
  return ['Name', `${type.split('::')[2]}Name`].some((own) => names.includes(own)) ? names : [];
}
