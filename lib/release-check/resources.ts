import { loadAwsServiceSpecSync } from '@aws-cdk/aws-service-spec';
import type { Resource } from './assembly.ts';

/** What AWS accepts once, of types whose identifier it makes itself. */
const UNIQUE: Readonly<Record<string, readonly string[]>> = {
  'AWS::ApiGateway::Resource': ['ParentId', 'PathPart'],
  'AWS::Lambda::EventSourceMapping': ['EventSourceArn', 'FunctionName'],
};

/** Their entries expire, so a group that leaves a stack needs nobody. */
const EXPIRING = new Set(['AWS::Logs::LogGroup']);
export const NESTED_STACK = 'AWS::CloudFormation::Stack';

const models = new Map<string, ReturnType<typeof loadModel>>();
let database: ReturnType<typeof loadAwsServiceSpecSync> | undefined;

function loadModel(type: string) {
  database ??= loadAwsServiceSpecSync();
  return database.lookup('resource', 'cloudFormationType', 'equals', type)[0];
}

function modelOf(type: string) {
  if (!models.has(type)) models.set(type, loadModel(type));
  return models.get(type);
}

/** Whether deleting the resource loses what it holds. */
export const isData = ({ Type }: Resource): boolean =>
  modelOf(Type)?.isStateful === true && !EXPIRING.has(Type) && Type !== NESTED_STACK;

export const isRetained = (policy: string | undefined): boolean =>
  policy !== undefined && /^(?:Retain|Snapshot)/.test(policy);

/** The values by which AWS tells the resource from others of its type; undefined if it makes them itself. */
export function nameOf({ Type, Properties }: Resource): unknown[] | undefined {
  const unique = UNIQUE[Type];
  const values = (unique ?? namingProperties(Type)).map((property) => Properties[property]);
  // The names of CloudFront's policies are within their only property.
  const nested = Object.values(Properties).map((value) => Object(value).Name);
  const names = Type.startsWith('AWS::CloudFront::') && values.length === 0 ? nested : values;
  if (names.length === 0 || names.includes(undefined)) return undefined;
  return unique !== undefined || names.some(hasText) ? names : undefined;
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
