import { loadAwsServiceSpecSync } from '@aws-cdk/aws-service-spec';
import type { Resource } from './assembly.ts';

/** What AWS accepts once, of types whose resources it identifies otherwise. */
const UNIQUE: Readonly<Record<string, (properties: Resource['Properties']) => unknown[]>> = {
  // One variable part below a path, under any name.
  'AWS::ApiGateway::Resource': ({ RestApiId, ParentId, PathPart }) => [
    RestApiId,
    ParentId,
    isVariable(PathPart) ? 'a variable part' : PathPart,
  ],
  // One prefix of Amazon's domain, and one domain of its own.
  'AWS::Cognito::UserPoolDomain': ({ UserPoolId, CustomDomainConfig }) => [
    UserPoolId,
    typeof CustomDomainConfig,
  ],
  'AWS::Lambda::EventSourceMapping': ({ EventSourceArn, FunctionName }) => [EventSourceArn, FunctionName],
};

/** Whether a part of a path is `{id}` or `{proxy+}`. */
export const isVariable = (part: unknown): boolean => /^\{.*\}$/.test(String(part));

/** Its entries expire, so a group that leaves a stack holds no data. */
const EXPIRING = 'AWS::Logs::LogGroup';
const NESTED_STACK = 'AWS::CloudFormation::Stack';

let database: ReturnType<typeof loadAwsServiceSpecSync> | undefined;

function modelOf(type: string) {
  // Loading it takes a second.
  database ??= loadAwsServiceSpecSync();
  return database.lookup('resource', 'cloudFormationType', 'equals', type)[0];
}

/** Whether deleting the resource loses what it holds. */
export const isData = ({ Type }: Resource): boolean =>
  modelOf(Type)?.isStateful === true && ![EXPIRING, NESTED_STACK].includes(Type);

export const isRetained = (policy: string | undefined): boolean =>
  policy !== undefined && /^(?:Retain|Snapshot)/.test(policy);

/** What AWS allows one resource of the type to have; undefined if it makes the name itself. */
export function nameOf({ Type, Properties }: Resource): unknown[] | undefined {
  const unique = UNIQUE[Type]?.(Properties);
  if (unique !== undefined) return unique;
  const names = namingProperties(Type).map((property) => Properties[property]);
  // The names of CloudFront's policies are within their only property.
  if (names.length === 0 && Type.startsWith('AWS::CloudFront::'))
    names.push(...Object.values(Properties).map((value) => Object(value).Name));
  return names.includes(undefined) || !names.some(hasText) ? undefined : names;
}

/**
 * A type's identifiers, if a template can set them; else the properties for a name, which cannot be changed,
 * in contrast to names for display.
 */
function namingProperties(type: string): string[] {
  const { primaryIdentifier = [], properties = {} } = modelOf(type) ?? {};
  if (primaryIdentifier.length > 0 && primaryIdentifier.every((name) => name in properties))
    return primaryIdentifier;
  const fixed = Object.keys(properties).filter(
    (name) => name.endsWith('Name') && properties[name]?.causesReplacement === 'yes',
  );
  const own = ['Name', `${type.split('::')[2]}Name`];
  return fixed.some((name) => own.includes(name)) ? fixed : [];
}

/** Whether a template writes at least a part of the value, in contrast to a reference. */
function hasText(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const { Ref, 'Fn::Join': join, 'Fn::Sub': substituted } = value as Record<string, unknown>;
  if (Array.isArray(join)) return [join[1]].flat().some(hasText);
  return substituted !== undefined || (typeof Ref === 'string' && Ref.startsWith('AWS::'));
}
