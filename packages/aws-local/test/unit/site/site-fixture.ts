import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { GatewayRequest } from '../../../src/gateway/request.ts';
import { parseTarget } from '../../../src/gateway/request.ts';
import { siteOf } from '../../../src/site/site.ts';
import { sitePages } from '../../../src/site/site-pages.ts';
import { References } from '../../../src/template/references.ts';
import { parseTemplate, templateOf } from '../../../src/template/template.ts';

/** Shortened versions of the stack's own. */
const FUNCTION = `function handler(event) {
  const name = event.request.uri.split('/').at(-1);
  if (!name.includes('.')) event.request.uri = '/index.html';
  return event.request;
}`;

const deployer = { 'Fn::GetAtt': ['Deployer', 'Arn'] };

export const SITE_RESOURCES = {
  Files: { Type: 'AWS::S3::Bucket' },
  Paths: {
    Type: 'AWS::CloudFront::Function',
    Properties: {
      FunctionCode: FUNCTION,
      FunctionConfig: { Runtime: 'cloudfront-js-2.0' },
      AutoPublish: true,
    },
  },
  Headers: {
    Type: 'AWS::CloudFront::ResponseHeadersPolicy',
    Properties: {
      ResponseHeadersPolicyConfig: {
        SecurityHeadersConfig: {
          ContentSecurityPolicy: { ContentSecurityPolicy: "default-src 'none'", Override: true },
          ContentTypeOptions: { Override: true },
          StrictTransportSecurity: { AccessControlMaxAgeSec: 60, IncludeSubdomains: true, Override: true },
        },
        CustomHeadersConfig: { Items: [{ Header: 'X-Ours', Value: 'yes', Override: true }] },
      },
    },
  },
  Distribution: {
    Type: 'AWS::CloudFront::Distribution',
    Properties: {
      DistributionConfig: {
        Enabled: true,
        DefaultCacheBehavior: {
          TargetOriginId: 'files',
          AllowedMethods: ['GET', 'HEAD'],
          Compress: true,
          ResponseHeadersPolicyId: { Ref: 'Headers' },
          FunctionAssociations: [
            { EventType: 'viewer-request', FunctionARN: { 'Fn::GetAtt': ['Paths', 'FunctionARN'] } },
          ],
        },
        CacheBehaviors: [{ PathPattern: '/api/*', TargetOriginId: 'api' }],
        Origins: [
          { Id: 'files', DomainName: { 'Fn::GetAtt': ['Files', 'RegionalDomainName'] } },
          { Id: 'api', DomainName: 'api.example.com' },
        ],
      },
    },
  },
  // The CDK's own function, which does not run here.
  Deployer: { Type: 'AWS::Lambda::Function', Properties: { Runtime: 'python3.13', Layers: ['x'] } },
  Assets: {
    Type: 'Custom::CDKBucketDeployment',
    Properties: {
      ServiceToken: deployer,
      SourceObjectKeys: ['assets.zip'],
      DestinationBucketName: { Ref: 'Files' },
      DestinationBucketKeyPrefix: 'assets',
      SystemMetadata: { 'cache-control': 'immutable' },
    },
  },
  Pages: {
    Type: 'Custom::CDKBucketDeployment',
    Properties: {
      ServiceToken: deployer,
      SourceObjectKeys: ['pages.zip'],
      DestinationBucketName: { Ref: 'Files' },
      SystemMetadata: { 'cache-control': 'no-cache' },
      DistributionId: { Ref: 'Distribution' },
    },
  },
};

export const SCRIPT = 'document.title = "Dashboard";\n'.repeat(100);

const FILES: Readonly<Record<string, string>> = {
  'assets/app-1.js': SCRIPT,
  'assets/deep/style.css': 'body{}',
  'pages/index.html': '<!doctype html><title>Dashboard</title>',
  'pages/icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'pages/unknown.xyz': 'x',
  'secret.txt': 'beside the directories',
};

/**
 * The pages of a template with a distribution, and the function of their paths.
 * @param changes resources that replace others
 */
export function aSite(changes: object = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'site-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  const { resources, outputs } = parseTemplate({ Resources: { ...SITE_RESOURCES, ...changes } });
  const assets = new Map(['assets', 'pages'].map((name) => [`${name}.zip`, join(directory, name)]));
  const template = templateOf('Test', resources, outputs, assets);
  const site = siteOf(template, new References('Test'));
  if (site === undefined) throw new Error('the template has a distribution');
  const pages = sitePages(site);
  return {
    template,
    get: (target: string, headers: Record<string, string> = {}, method = 'GET') =>
      pages(aRequest(target, headers, method)),
  };
}

function aRequest(target: string, headers: Record<string, string>, method: string): GatewayRequest {
  const parsed = parseTarget(target);
  if (parsed === undefined) throw new Error(`no target: ${target}`);
  const all = { Host: 'localhost:3000', ...headers };
  return { ...parsed, method, headers: Object.entries(all), protocol: 'HTTP/1.1', sourceIp: '127.0.0.1' };
}
