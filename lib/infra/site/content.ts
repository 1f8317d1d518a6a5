import { join } from 'node:path';
import { Stack } from 'aws-cdk-lib';
import type { IDistribution } from 'aws-cdk-lib/aws-cloudfront';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import { BucketDeployment, CacheControl, Source } from 'aws-cdk-lib/aws-s3-deployment';
import { DISABLE_ASSET_STAGING_CONTEXT } from 'aws-cdk-lib/cx-api';
import { Construct } from 'constructs';
import { acknowledge } from '../acknowledgements.ts';
import { FunctionRole, logGroup } from '../service-function.ts';

/** Build directory of files whose names contain a hash of their content. */
const ASSETS = 'assets';

/** MiB. */
const MEMORY = 512;

export interface SiteContentProps {
  /** Directory of the built dashboard. */
  directory: string;
  bucket: IBucket;
  distribution: IDistribution;
}

/**
 * Deploys the dashboard: first the files that pages refer to, then the pages. The former stay after later
 * releases, a few hundred KiB each, so that an open page still finds its own.
 */
export class SiteContent extends Construct {
  constructor(scope: Construct, id: string, props: SiteContentProps) {
    super(scope, id);
    const { directory, bucket, distribution } = props;
    // Excludes need staged assets.
    this.node.setContext(DISABLE_ASSET_STAGING_CONTEXT, false);
    const assets = new Asset(this, 'AssetFiles', { path: join(directory, ASSETS) });
    const pages = new Asset(this, 'PageFiles', { path: directory, exclude: [ASSETS] });
    // Of the CDK's copy function, which both deployments share.
    const group = logGroup(this, 'DeployerLogs');
    const role = this.deployerRole([assets, pages], props);
    group.grantWrite(role);
    const common = {
      destinationBucket: bucket,
      // Only the grants here: the CDK would add more.
      role: role.withoutPolicyUpdates(),
      logGroup: group,
      memoryLimit: MEMORY,
      outputObjectKeys: false,
    };
    const first = new BucketDeployment(this, 'Assets', {
      ...common,
      sources: [Source.bucket(assets.bucket, assets.s3ObjectKey)],
      destinationKeyPrefix: ASSETS,
      cacheControl: [CacheControl.fromString('public, max-age=31536000, immutable')],
      prune: false,
    });
    const second = new BucketDeployment(this, 'Pages', {
      ...common,
      sources: [Source.bucket(pages.bucket, pages.s3ObjectKey)],
      exclude: [`${ASSETS}/*`],
      cacheControl: [CacheControl.noCache()],
      prune: true,
      distribution,
      distributionPaths: ['/*'],
    });
    second.node.addDependency(first);
    const [deployer] = Stack.of(this).node.children.filter(({ node }) =>
      node.id.startsWith('Custom::CDKBucketDeployment'),
    );
    if (deployer)
      acknowledge(deployer, {
        L1: 'A function of the CDK, in the language that it is written in; it works for a moment of each deployment.',
      });
  }

  private deployerRole(sources: readonly Asset[], { bucket, distribution }: SiteContentProps): FunctionRole {
    const role = new FunctionRole(this, 'DeployerRole', 'What copies the dashboard to its bucket may do');
    const allow = (actions: string[], resources: string[]) =>
      role.addToPrincipalPolicy(new PolicyStatement({ actions, resources }));
    allow(
      ['s3:GetObject'],
      sources.map((asset) => asset.bucket.arnForObjects(asset.s3ObjectKey)),
    );
    allow(['s3:GetBucketTagging', 's3:ListBucket'], [bucket.bucketArn]);
    allow(['s3:GetObject', 's3:PutObject', 's3:DeleteObject'], [bucket.arnForObjects('*')]);
    allow(['cloudfront:CreateInvalidation', 'cloudfront:GetInvalidation'], [distribution.distributionArn]);
    const arn = Stack.of(this).resolve(bucket.bucketArn)['Fn::GetAtt'].join('.');
    acknowledge(role, {
      [`IAM5[Resource::<${arn}>/*]`]: 'All of a bucket that is there for these files alone.',
    });
    return role;
  }
}
