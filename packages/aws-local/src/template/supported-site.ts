import { applied, inert, list, object, oneOf, type Properties } from './shapes.ts';

const tags = inert('nothing here reads tags or descriptions');
const transport = inert('this machine is called without TLS, by its own name, over HTTP/1.1');
const caching = inert('files are read from this machine, and there are no caches to fill');
const access = inert('the files are as public as the page that they make');
const deployer = inert('the files are read where the synthesis has left them');

const behavior = {
  PathPattern: applied,
  TargetOriginId: applied,
  AllowedMethods: applied,
  Compress: applied,
  FunctionAssociations: list(object({ EventType: oneOf('viewer-request'), FunctionARN: applied })),
  ResponseHeadersPolicyId: applied,
  CachePolicyId: caching,
  OriginRequestPolicyId: inert('the gateway here is asked directly'),
  ViewerProtocolPolicy: transport,
};

/** Dashboard part of `supported`. */
export const supportedSite: Readonly<Record<string, Properties>> = {
  'AWS::S3::Bucket': {
    BucketEncryption: access,
    OwnershipControls: access,
    PublicAccessBlockConfiguration: access,
    Tags: tags,
  },
  'AWS::S3::BucketPolicy': { Bucket: access, PolicyDocument: access },
  'AWS::CloudFront::OriginAccessControl': { OriginAccessControlConfig: access },
  'AWS::CloudFront::Function': {
    Name: tags,
    FunctionCode: applied,
    FunctionConfig: object({ Runtime: oneOf('cloudfront-js-2.0'), Comment: tags }),
    AutoPublish: oneOf(true),
    Tags: tags,
  },
  'AWS::CloudFront::ResponseHeadersPolicy': {
    ResponseHeadersPolicyConfig: object({
      Name: tags,
      Comment: tags,
      CustomHeadersConfig: object({
        Items: list(object({ Header: applied, Value: applied, Override: oneOf(true) })),
      }),
      SecurityHeadersConfig: object({
        ContentSecurityPolicy: object({ ContentSecurityPolicy: applied, Override: oneOf(true) }),
        ContentTypeOptions: object({ Override: oneOf(true) }),
        FrameOptions: object({ FrameOption: applied, Override: oneOf(true) }),
        ReferrerPolicy: object({ ReferrerPolicy: applied, Override: oneOf(true) }),
        StrictTransportSecurity: object({
          AccessControlMaxAgeSec: applied,
          IncludeSubdomains: applied,
          Override: oneOf(true),
        }),
      }),
    }),
  },
  'AWS::CloudFront::Distribution': {
    DistributionConfig: object({
      DefaultCacheBehavior: object(behavior),
      CacheBehaviors: list(object(behavior)),
      Origins: list(
        object({
          Id: applied,
          DomainName: applied,
          OriginAccessControlId: access,
          S3OriginConfig: object({ OriginAccessIdentity: access }),
          CustomOriginConfig: transport,
          OriginCustomHeaders: inert('the gateway here is asked directly'),
        }),
      ),
      // Without a custom page the response itself is passed on.
      CustomErrorResponses: list(object({ ErrorCode: caching, ErrorCachingMinTTL: caching })),
      DefaultRootObject: inert('the function makes a path of it before'),
      Enabled: oneOf(true),
      Aliases: transport,
      ViewerCertificate: transport,
      HttpVersion: transport,
      IPV6Enabled: transport,
      Comment: tags,
    }),
    Tags: tags,
  },
  'Custom::CDKBucketDeployment': {
    ServiceToken: deployer,
    SourceBucketNames: deployer,
    SourceObjectKeys: applied,
    DestinationBucketName: applied,
    DestinationBucketKeyPrefix: applied,
    Exclude: list(oneOf('assets/*')),
    SystemMetadata: object({ 'cache-control': applied }),
    Prune: inert('what is served is what the present template has'),
    DistributionId: caching,
    DistributionPaths: caching,
    WaitForDistributionInvalidation: caching,
    OutputObjectKeys: deployer,
  },
};
