import type * as kms from 'aws-cdk-lib/aws-kms';
import * as secrets from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledgements.ts';
import type { GrantedResource } from './grants/resource.ts';
import { ServiceStack } from './stacks/service-stack.ts';

/**
 * A keyring in Secrets Manager, created with one random version: `{"current":"1","1":"…"}`. A rotation adds a
 * version and makes it current; older ones stay, to verify earlier signatures and tokens.
 */
export class KeyringSecret extends Construct implements GrantedResource {
  private readonly secret: secrets.Secret;

  constructor(
    scope: Construct,
    id: string,
    { description, key }: { description: string; key: kms.IKey | undefined },
  ) {
    super(scope, id);
    this.secret = new secrets.Secret(this, 'Secret', {
      description,
      ...(key && { encryptionKey: key }),
      generateSecretString: {
        secretStringTemplate: JSON.stringify({ current: '1' }),
        generateStringKey: '1',
        passwordLength: 64,
        excludePunctuation: true,
      },
      removalPolicy: ServiceStack.of(this).removal,
    });
    acknowledge(this, {
      SMG4: 'A rotation adds a key version and keeps the old ones, which secrets and cursors that are in use were made with; it is an act of an operator, because a rotation that replaced the value would invalidate every receiver at once.',
    });
  }

  get arn(): string {
    return this.secret.secretArn;
  }

  get environmentValue(): string {
    return this.arn;
  }

  arnsOf(): string[] {
    return [this.arn];
  }
}
