import { Fn } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledgements.ts';
import type { Settings } from './settings.ts';
import { ServiceStack } from './stacks/service-stack.ts';

/** Availability zones, each with a NAT gateway and a fixed address. */
const ZONES = 2;

/**
 * A network with fixed outbound addresses, for the functions that connect to customers' hosts. Its subnets
 * are dual-stack: hosts with IPv6 only are reached as well, from an address of the network's block.
 */
export class Egress extends Construct {
  readonly vpc: ec2.Vpc;
  readonly securityGroup: ec2.SecurityGroup;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const stack = ServiceStack.of(this);
    // Resources of their own, because receivers' firewalls name them: they outlive the network.
    const addresses = Array.from(
      { length: ZONES },
      (_, index) => new ec2.CfnEIP(this, `Address${index + 1}`, { domain: 'vpc' }),
    );
    for (const address of addresses) address.applyRemovalPolicy(stack.removal);
    this.vpc = new ec2.Vpc(this, 'Vpc', {
      ipProtocol: ec2.IpProtocol.DUAL_STACK,
      maxAzs: ZONES,
      natGatewayProvider: ec2.NatProvider.gateway({
        eipAllocationIds: addresses.map(({ attrAllocationId }) => attrAllocationId),
      }),
      // Free, while a NAT gateway costs by the gigabyte. An interface endpoint pays from some 400 GB a month.
      gatewayEndpoints: { DynamoDb: { service: ec2.GatewayVpcEndpointAwsService.DYNAMODB } },
      // Nothing uses it, and the CDK would need a function to empty it.
      restrictDefaultSecurityGroup: false,
    });
    acknowledge(this.vpc, {
      VPC7: 'Two functions alone are in it, and each of their attempts is in the delivery log.',
    });
    this.securityGroup = new ec2.SecurityGroup(this, 'SecurityGroup', {
      vpc: this.vpc,
      description: 'Functions that connect to the hosts of customers',
      allowAllIpv6Outbound: true,
    });
    const shown = addresses.map(({ ref }) => ref);
    stack.output('EgressAddresses', Fn.join(' ', shown));
    stack.output('EgressIpv6Block', Fn.select(0, this.vpc.vpcIpv6CidrBlocks));
  }
}

/** Environment variable of functions that judge or reach receivers: only in the network is there IPv6. */
export const receiverEnvironment = ({
  fixedEgress,
}: Pick<Settings, 'fixedEgress'>): { IPV6_RECEIVERS?: string } =>
  fixedEgress ? { IPV6_RECEIVERS: 'allow' } : {};
