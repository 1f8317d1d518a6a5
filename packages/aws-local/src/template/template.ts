import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { LocalRunError } from '../errors.ts';
import { object, unsupported } from './shapes.ts';
import { joinStacks, type StackContent, withNestedStacks } from './stacks.ts';
import { inertTypes, supported } from './supported.ts';

/** A resource whose `properties` still contain intrinsic functions. */
export interface Resource {
  logicalId: string;
  type: string;
  properties: Record<string, unknown>;
  dependsOn: string[];
}

export interface Template {
  /** Common prefix of the stacks' names. */
  stackName: string;
  resources: readonly Resource[];
  /** Unresolved values by output name. */
  outputs: Record<string, unknown>;
  ofType(type: string): Resource[];
  /** @throws LocalRunError when the template has no such resource */
  get(logicalId: string): Resource;
  /** Absolute directory of a Lambda function's unpacked asset. */
  assetDirectory(fn: Resource): string;
  /**
   * Absolute directory of an unpacked asset.
   * @throws LocalRunError when the assembly has none of this object key
   */
  asset(objectKey: string): string;
}

const Properties = z.record(z.string(), z.unknown());

const Manifest = z.object({
  artifacts: z.record(z.string(), z.object({ type: z.string(), properties: Properties.optional() })),
});

const StackArtifact = z.object({ templateFile: z.string(), stackName: z.string().optional() });

const AssetManifest = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.object({ path: z.string().optional() }),
      destinations: z.record(z.string(), z.object({ objectKey: z.string() })),
    }),
  ),
});

const TemplateFile = z.object({
  Resources: z.record(z.string(), z.looseObject({ Type: z.string() })),
  Outputs: z.record(z.string(), z.object({ Value: z.unknown() })).default({}),
});

const CustomResource = z.object({
  Properties: z.object({ ServiceToken: z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.string()]) }) }),
});

const ResourceBody = z.strictObject({
  Type: z.string(),
  Properties: Properties.default({}),
  DependsOn: z.union([z.string().transform((id) => [id]), z.array(z.string())]).default([]),
  Metadata: z.unknown().optional(),
  UpdateReplacePolicy: z.unknown().optional(),
  // Configures how CodeDeploy moves an alias.
  UpdatePolicy: z.unknown().optional(),
  DeletionPolicy: z.unknown().optional(),
});

/**
 * Template sections without effect here: `Parameters` and `Rules` hold the CDK's bootstrap version check,
 * `Conditions` decide about its metadata. A resource that uses one is rejected.
 */
const knownSections = new Set([
  'AWSTemplateFormatVersion',
  'Conditions',
  'Description',
  'Metadata',
  'Outputs',
  'Parameters',
  'Resources',
  'Rules',
]);

/**
 * Reads a synthesized assembly's stacks as one template.
 * @throws LocalRunError naming an unsupported resource, its type and the property
 */
export function loadTemplate(assemblyDirectory: string): Template {
  const directory = resolve(assemblyDirectory);
  const { artifacts } = read(join(directory, 'manifest.json'), Manifest);
  const stacks = readStacks(directory);
  if (stacks.length === 0) throw new LocalRunError(`The assembly ${directory} has no stack`);
  const assets = readAssets(directory, artifacts);
  const { stackName, content } = joinStacks(stacks);
  const { resources, outputs } = parseTemplate(content);
  return templateOf(stackName, resources, outputs, assets);
}

/**
 * Reads the templates of an assembly's stacks, nested ones included.
 * @throws LocalRunError when a file is missing
 */
export function readStacks(directory: string): StackContent[] {
  const { artifacts } = read(join(directory, 'manifest.json'), Manifest);
  const assets = readAssets(directory, artifacts);
  const readContent = (file: string) => read(resolve(directory, file), Properties);
  return Object.entries(artifacts)
    .filter(([, artifact]) => artifact.type === 'aws:cloudformation:stack')
    .flatMap(([artifactId, { properties }]) => {
      const { templateFile, stackName = artifactId } = StackArtifact.parse(properties);
      return withNestedStacks({ stackName, content: readContent(templateFile) }, (objectKey) =>
        readContent(assets.get(objectKey) ?? objectKey),
      );
    });
}

/**
 * Parses the resources and outputs of a CloudFormation template.
 * @throws LocalRunError naming the unsupported part
 */
export function parseTemplate(content: Record<string, unknown>): Pick<Template, 'resources' | 'outputs'> {
  const section = Object.keys(content).find((name) => !knownSections.has(name));
  if (section) throw new LocalRunError(`The local run does not know the template section ${section}`);

  const { Resources, Outputs } = TemplateFile.parse(content);
  const deployers = deployersIn(Object.values(Resources));
  const isInert = (logicalId: unknown) => Object.hasOwn(inertTypes, Resources[String(logicalId)]?.Type ?? '');
  return {
    resources: Object.entries(Resources)
      .filter(([logicalId]) => !isInert(logicalId) && !deployers.has(logicalId))
      .map(([logicalId, body]) => parseResource(logicalId, body)),
    // What is not here has no name.
    outputs: Object.fromEntries(
      Object.entries(Outputs)
        .filter(([, { Value }]) => !namesIn(Value).some(isInert))
        .map(([name, { Value }]) => [name, Value]),
    ),
  };
}

/** What a value refers to, by `Ref` or an attribute, at any depth. */
function namesIn(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const { Ref: name, 'Fn::GetAtt': attribute } = Object(value);
  return [name, [attribute].flat()[0], ...Object.values(value).flatMap(namesIn)];
}

/**
 * Logical ids of the functions behind custom resources: the CDK's own, for deployments only, and not created
 * here.
 */
function deployersIn(resources: readonly { Type: string }[]): ReadonlySet<unknown> {
  return new Set(
    resources
      .filter(({ Type }) => Type.startsWith('Custom::'))
      .map((body) => CustomResource.safeParse(body).data?.Properties.ServiceToken['Fn::GetAtt'][0]),
  );
}

function parseResource(logicalId: string, body: { Type: string }): Resource {
  const refuse = (finding: string) =>
    new LocalRunError(`${logicalId} (${body.Type}): the local run ${finding}`);

  const properties = Object.hasOwn(supported, body.Type) ? supported[body.Type] : undefined;
  if (!properties) throw refuse('does not know this resource type');

  const parsed = ResourceBody.safeParse(body);
  if (!parsed.success) throw refuse(`does not know the resource attribute ${strangeAttribute(body)}`);
  const { Properties: given, DependsOn: dependsOn } = parsed.data;
  const finding = unsupported(given, object(properties), '');
  if (finding) throw refuse(finding);
  return { logicalId, type: body.Type, properties: given, dependsOn };
}

function strangeAttribute(body: Record<string, unknown> | { Type: string }): string {
  return (
    Object.keys(body).find((name) => !Object.hasOwn(ResourceBody.shape, name)) ??
    'DependsOn or Properties in this form'
  );
}

/** Absolute paths of an assembly's assets, by object key. */
const readAssets = (directory: string, artifacts: z.output<typeof Manifest>['artifacts']) =>
  new Map(
    Object.values(artifacts)
      .filter(({ type }) => type === 'cdk:asset-manifest')
      .flatMap(({ properties }) =>
        assetDirectories(directory, z.object({ file: z.string() }).parse(properties).file),
      ),
  );

/** Pairs of an asset's object key and its path. */
function assetDirectories(directory: string, manifestFile: string): [string, string][] {
  const { files } = read(join(directory, manifestFile), AssetManifest);
  return Object.values(files).flatMap(({ source, destinations }) => {
    const { path } = source;
    if (path === undefined) return [];
    return Object.values(destinations).map(({ objectKey }): [string, string] => [
      objectKey,
      resolve(directory, path),
    ]);
  });
}

/** @param assets directories by object key */
export function templateOf(
  stackName: string,
  resources: readonly Resource[],
  outputs: Record<string, unknown>,
  assets: ReadonlyMap<string, string> = new Map(),
): Template {
  const byId = new Map(resources.map((resource) => [resource.logicalId, resource]));
  return {
    stackName,
    resources,
    outputs,
    ofType: (type) => resources.filter((resource) => resource.type === type),
    get(logicalId) {
      const resource = byId.get(logicalId);
      if (!resource) throw new LocalRunError(`The template has no resource ${logicalId}`);
      return resource;
    },
    assetDirectory(fn) {
      const code = z.object({ S3Key: z.string() }).safeParse(fn.properties.Code);
      const directory = code.success ? assets.get(code.data.S3Key) : undefined;
      if (!directory)
        throw new LocalRunError(`${fn.logicalId} (${fn.type}): its code is not in the assembly`);
      return directory;
    },
    asset(objectKey) {
      const directory = assets.get(objectKey);
      if (!directory) throw new LocalRunError(`The assembly has no asset ${objectKey}`);
      return directory;
    },
  };
}

function read<T>(file: string, schema: z.ZodType<T>): T {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new LocalRunError(`Cannot read ${file}: synthesize the CDK app first`, { cause });
  }
  return schema.parse(JSON.parse(text));
}
