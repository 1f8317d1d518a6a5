import * as z from 'zod';
import { LocalRunError } from '../errors.ts';
import { parseProperties } from '../provision/properties.ts';
import type { References } from '../template/references.ts';
import type { Resource, Template } from '../template/template.ts';
import { filesIn, type StoredFile } from './content.ts';
import { HeadersPolicy, headersOf } from './security-headers.ts';
import { viewerFunction } from './viewer-function.ts';

/** Content of a distribution's bucket. */
export interface Site {
  methods: readonly string[];
  /** Header fields of every response. */
  headers: Readonly<Record<string, string>>;
  compresses: boolean;
  /** By key. */
  files: ReadonlyMap<string, StoredFile>;
  /** Whether another behavior serves the path. */
  isElsewhere(path: string): boolean;
  /** Path after the distribution's viewer function. */
  pathOf(request: { method: string; uri: string }): string;
}

/** Host of placeholder URLs; local URLs have the gateway's host. */
const placeholderDomain = (logicalId: string): string => `${logicalId.toLowerCase()}.cloudfront.net`;

const Behavior = z.object({
  TargetOriginId: z.string(),
  AllowedMethods: z.array(z.string()).default(['GET', 'HEAD']),
  Compress: z.boolean().default(false),
  FunctionAssociations: z.array(z.object({ FunctionARN: z.string() })).default([]),
  ResponseHeadersPolicyId: z.string().optional(),
});
const Distribution = z.object({
  DistributionConfig: z.object({
    DefaultCacheBehavior: Behavior,
    CacheBehaviors: z.array(z.object({ PathPattern: z.string() })).default([]),
    Origins: z.array(z.object({ Id: z.string(), DomainName: z.string() })),
  }),
});
const Content = z.object({
  SourceObjectKeys: z.array(z.string()),
  DestinationBucketName: z.string(),
  DestinationBucketKeyPrefix: z.string().default(''),
  SystemMetadata: z.object({ 'cache-control': z.string().optional() }).default({}),
});

/**
 * Reads the template's distribution and defines it in `references`, with its bucket, function and policy.
 * @param references define the REST API
 * @throws LocalRunError when there are several, or one of another form
 */
export function siteOf(template: Template, references: References): Site | undefined {
  const [distribution, ...others] = template.ofType('AWS::CloudFront::Distribution');
  if (distribution === undefined) return undefined;
  if (others.length > 0)
    throw new LocalRunError('The local run takes a template with one distribution at most');
  defineParts(template, references);
  const { logicalId } = distribution;
  references.define(logicalId, { ref: logicalId, attributes: { DomainName: placeholderDomain(logicalId) } });
  const {
    DistributionConfig: { DefaultCacheBehavior: behavior, CacheBehaviors: further, Origins: origins },
  } = parseProperties(Distribution, distribution, references);
  const patterns = further.map(({ PathPattern }) => compilePathPattern(PathPattern));
  const [association, ...more] = behavior.FunctionAssociations;
  if (more.length > 0) throw new LocalRunError('The local run takes one function of a behaviour at most');
  const bucket = origins.find(({ Id }) => Id === behavior.TargetOriginId)?.DomainName;
  return {
    methods: behavior.AllowedMethods,
    compresses: behavior.Compress,
    headers: readHeadersPolicy(template, references, behavior.ResponseHeadersPolicyId),
    files: readDeployedFiles(template, references, bucket),
    isElsewhere: (path) => patterns.some((pattern) => pattern.test(path)),
    pathOf:
      association === undefined
        ? ({ uri }) => uri
        : viewerFunction(readFunctionCode(template, references, association.FunctionARN)),
  };
}

const BUCKET = 'AWS::S3::Bucket';
const FUNCTION = 'AWS::CloudFront::Function';
const POLICY = 'AWS::CloudFront::ResponseHeadersPolicy';

/** Defines each by its logical id. */
function defineParts(template: Template, references: References): void {
  const define = (type: string, attribute: string) => {
    for (const { logicalId } of template.ofType(type))
      references.define(logicalId, { ref: logicalId, attributes: { [attribute]: logicalId } });
  };
  define(BUCKET, 'RegionalDomainName');
  define(FUNCTION, 'FunctionARN');
  define(POLICY, 'Id');
  define('AWS::CloudFront::OriginAccessControl', 'Id');
}

const isKnownAs =
  (references: References, name: string | undefined) =>
  ({ logicalId }: Resource): boolean =>
    references.resolve({ Ref: logicalId }) === name;

function readHeadersPolicy(template: Template, references: References, id: string | undefined) {
  const policy = template.ofType(POLICY).find(isKnownAs(references, id));
  return policy === undefined ? {} : headersOf(parseProperties(HeadersPolicy, policy, references));
}

function readFunctionCode(template: Template, references: References, arn: string): string {
  const fn = template.ofType(FUNCTION).find(isKnownAs(references, arn));
  if (fn === undefined) throw new LocalRunError(`The template has no function ${arn} of CloudFront`);
  return parseProperties(z.object({ FunctionCode: z.string() }), fn, references).FunctionCode;
}

/** Files copied to the bucket; a later deployment's replace earlier ones. */
function readDeployedFiles(
  template: Template,
  references: References,
  bucket: string | undefined,
): ReadonlyMap<string, StoredFile> {
  const contents = template.ofType('Custom::CDKBucketDeployment').map((resource) => {
    // The function that copies does not matter here.
    const { ServiceToken: _, SourceBucketNames: __, DistributionId: ___, ...read } = resource.properties;
    return parseProperties(Content, resource, references, read);
  });
  return new Map(
    contents
      .filter(({ DestinationBucketName }) => DestinationBucketName === bucket)
      .flatMap(({ SourceObjectKeys, DestinationBucketKeyPrefix: prefix, SystemMetadata }) =>
        SourceObjectKeys.flatMap((key) => [
          ...filesIn(template.asset(key), { prefix, cacheControl: SystemMetadata['cache-control'] }),
        ]),
      ),
  );
}

/** A CloudFront path pattern: `*` matches any characters, `?` one. */
function compilePathPattern(pattern: string): RegExp {
  const source = pattern.replace(/[.*+?^${}()|[\]\\]/g, (character) => {
    if (character === '*') return '.*';
    return character === '?' ? '.' : `\\${character}`;
  });
  return new RegExp(`^${source}$`, 's');
}
