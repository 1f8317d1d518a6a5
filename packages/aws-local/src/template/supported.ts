import { applied, inert, list, object, oneOf, type Properties } from './shapes.ts';
import { supportedIdentity } from './supported-identity.ts';
import { supportedSite } from './supported-site.ts';

const capacity = inert('the engine has no throughput limits');
const encryption = inert('the state directory is as private as the rest of this machine');
const tags = inert('nothing here reads tags or descriptions');
const monitoring = inert('there are no metrics and traces here');
const logging = inert('log lines go to the console of the local run');
const deployment = inert('there is nothing to deploy to');
const onePlace = inert('there is one region, one account and no caches');

/** Resource policies have no effect: the local run is the only caller. */
const resourcePolicy = inert('nothing but the functions of this template calls here');

const keySchema = list(object({ AttributeName: applied, KeyType: applied }));
const policyDocument = object({ Version: oneOf('2012-10-17'), Statement: applied });

/** Of a table in one region, and of one in several. */
const table: Properties = {
  TableName: applied,
  AttributeDefinitions: list(object({ AttributeName: applied, AttributeType: applied })),
  KeySchema: keySchema,
  GlobalSecondaryIndexes: list(
    object({
      IndexName: applied,
      KeySchema: keySchema,
      Projection: object({ ProjectionType: applied, NonKeyAttributes: applied }),
      ProvisionedThroughput: capacity,
      OnDemandThroughput: capacity,
      WarmThroughput: capacity,
      ContributorInsightsSpecification: monitoring,
    }),
  ),
  StreamSpecification: object({ StreamViewType: applied, ResourcePolicy: resourcePolicy }),
  TimeToLiveSpecification: object({ AttributeName: applied, Enabled: applied }),
  BillingMode: capacity,
  WarmThroughput: capacity,
  SSESpecification: encryption,
};
/** Of a table, or of its copy in a region. */
const tableSettings: Properties = {
  TableClass: capacity,
  ContributorInsightsSpecification: monitoring,
  DeletionProtectionEnabled: inert('deleting the state directory deletes the table'),
  PointInTimeRecoverySpecification: inert('copy the state directory instead'),
  ResourcePolicy: resourcePolicy,
  SSESpecification: encryption,
  Tags: tags,
};

/**
 * Every supported resource type and property, with CloudFormation's names. A template with any other does not
 * start: the local run must run what is deployed.
 */
export const supported: Readonly<Record<string, Properties>> = {
  'AWS::DynamoDB::Table': {
    ...table,
    ...tableSettings,
    ProvisionedThroughput: capacity,
    OnDemandThroughput: capacity,
  },
  'AWS::DynamoDB::GlobalTable': {
    ...table,
    Replicas: list(
      object({
        Region: onePlace,
        GlobalSecondaryIndexes: list(
          object({ IndexName: capacity, ContributorInsightsSpecification: monitoring }),
        ),
        ...tableSettings,
      }),
    ),
  },

  'AWS::SQS::Queue': {
    QueueName: applied,
    VisibilityTimeout: applied,
    DelaySeconds: applied,
    MaximumMessageSize: applied,
    ReceiveMessageWaitTimeSeconds: applied,
    RedrivePolicy: object({ deadLetterTargetArn: applied, maxReceiveCount: applied }),
    FifoQueue: applied,
    ContentBasedDeduplication: applied,
    RedriveAllowPolicy: inert('the queues of one template trust one another'),
    MessageRetentionPeriod: inert('the engine keeps messages until they are deleted'),
    KmsMasterKeyId: applied,
    KmsDataKeyReusePeriodSeconds: encryption,
    SqsManagedSseEnabled: encryption,
    Tags: tags,
  },
  'AWS::SQS::QueuePolicy': { PolicyDocument: policyDocument, Queues: applied },

  'AWS::SecretsManager::Secret': {
    Name: applied,
    GenerateSecretString: object({
      SecretStringTemplate: applied,
      GenerateStringKey: applied,
      PasswordLength: applied,
      ExcludeCharacters: applied,
      ExcludeLowercase: applied,
      ExcludeNumbers: applied,
      ExcludePunctuation: applied,
      ExcludeUppercase: applied,
      IncludeSpace: applied,
      RequireEachIncludedType: applied,
    }),
    KmsKeyId: encryption,
    Description: tags,
    Tags: tags,
  },

  'AWS::SNS::Topic': { DisplayName: monitoring, KmsMasterKeyId: encryption, Tags: tags },
  'AWS::SNS::Subscription': { TopicArn: applied, Protocol: applied, Endpoint: applied },
  'AWS::KMS::Key': {
    KeyPolicy: applied,
    EnableKeyRotation: encryption,
    Description: tags,
    Tags: tags,
  },

  'AWS::Lambda::Function': {
    FunctionName: applied,
    Code: object({ S3Bucket: inert('the asset is read from the assembly'), S3Key: applied }),
    Handler: applied,
    Runtime: oneOf('nodejs24.x'),
    PackageType: oneOf('Zip'),
    Role: applied,
    Timeout: applied,
    MemorySize: applied,
    Environment: object({ Variables: applied }),
    ReservedConcurrentExecutions: applied,
    RecursiveLoop: oneOf('Allow', 'Terminate'),
    Architectures: inert('functions run on the processor of this machine'),
    EphemeralStorage: inert('functions share the temporary directory of this machine'),
    RuntimeManagementConfig: deployment,
    LoggingConfig: logging,
    TracingConfig: monitoring,
    KmsKeyArn: encryption,
    Description: tags,
    Tags: tags,
  },
  'AWS::Lambda::Version': { FunctionName: applied, Description: tags },
  'AWS::Lambda::Alias': { FunctionName: applied, FunctionVersion: applied, Name: applied, Description: tags },
  'AWS::Lambda::EventSourceMapping': {
    EventSourceArn: applied,
    FunctionName: applied,
    Enabled: applied,
    BatchSize: applied,
    MaximumBatchingWindowInSeconds: applied,
    FilterCriteria: object({ Filters: list(object({ Pattern: applied })) }),
    FunctionResponseTypes: list(oneOf('ReportBatchItemFailures')),
    ScalingConfig: object({ MaximumConcurrency: applied }),
    StartingPosition: oneOf('TRIM_HORIZON', 'LATEST'),
    BisectBatchOnFunctionError: applied,
    MaximumRecordAgeInSeconds: applied,
    MaximumRetryAttempts: applied,
    DestinationConfig: object({ OnFailure: object({ Destination: applied }) }),
    ParallelizationFactor: applied,
    TumblingWindowInSeconds: applied,
    MetricsConfig: monitoring,
    Tags: tags,
  },
  'AWS::Lambda::EventInvokeConfig': {
    FunctionName: applied,
    Qualifier: oneOf('$LATEST'),
    MaximumRetryAttempts: inert('a schedule that failed comes round again'),
  },
  'AWS::Lambda::Permission': {
    Action: applied,
    FunctionName: applied,
    Principal: applied,
    SourceArn: applied,
    SourceAccount: applied,
  },

  'AWS::IAM::Role': {
    AssumeRolePolicyDocument: applied,
    ManagedPolicyArns: applied,
    Policies: list(object({ PolicyName: applied, PolicyDocument: policyDocument })),
    RoleName: tags,
    Path: tags,
    Description: tags,
    Tags: tags,
  },
  'AWS::IAM::Policy': { PolicyName: applied, PolicyDocument: policyDocument, Roles: applied },

  'AWS::Logs::LogGroup': {
    LogGroupName: logging,
    LogGroupClass: logging,
    RetentionInDays: logging,
    DeletionProtectionEnabled: logging,
    KmsKeyId: encryption,
    Tags: tags,
  },

  'AWS::ApiGateway::RestApi': {
    Name: applied,
    BinaryMediaTypes: applied,
    EndpointConfiguration: onePlace,
    EndpointAccessMode: onePlace,
    SecurityPolicy: onePlace,
    DisableExecuteApiEndpoint: onePlace,
    Description: tags,
    Tags: tags,
  },
  'AWS::ApiGateway::Resource': { RestApiId: applied, ParentId: applied, PathPart: applied },
  'AWS::ApiGateway::Method': {
    RestApiId: applied,
    ResourceId: applied,
    HttpMethod: applied,
    AuthorizationType: oneOf('NONE'),
    ApiKeyRequired: oneOf(false),
    Integration: object({
      Type: oneOf('AWS_PROXY', 'MOCK'),
      IntegrationHttpMethod: oneOf('POST'),
      Uri: applied,
      Credentials: applied,
      TimeoutInMillis: applied,
      RequestTemplates: applied,
      PassthroughBehavior: applied,
      ContentHandling: oneOf('CONVERT_TO_TEXT'),
      IntegrationResponses: list(
        object({
          StatusCode: applied,
          SelectionPattern: applied,
          ResponseParameters: applied,
          ResponseTemplates: applied,
        }),
      ),
    }),
    MethodResponses: list(
      object({
        StatusCode: applied,
        ResponseParameters: applied,
        ResponseModels: inert('models describe a response and do not change it'),
      }),
    ),
    OperationName: tags,
  },
  'AWS::ApiGateway::GatewayResponse': {
    RestApiId: applied,
    ResponseType: applied,
    StatusCode: applied,
    ResponseParameters: applied,
    ResponseTemplates: applied,
  },
  'AWS::ApiGateway::Deployment': { RestApiId: applied, Description: tags },
  'AWS::ApiGateway::Stage': {
    RestApiId: applied,
    DeploymentId: applied,
    StageName: applied,
    AccessLogSetting: logging,
    MethodSettings: list(
      object({
        HttpMethod: applied,
        ResourcePath: applied,
        ThrottlingBurstLimit: applied,
        ThrottlingRateLimit: applied,
        DataTraceEnabled: logging,
        LoggingLevel: logging,
        MetricsEnabled: monitoring,
      }),
    ),
    TracingEnabled: monitoring,
    Description: tags,
    Tags: tags,
  },
  'AWS::ApiGateway::DomainName': {
    DomainName: onePlace,
    RegionalCertificateArn: onePlace,
    EndpointConfiguration: onePlace,
    SecurityPolicy: onePlace,
    Tags: tags,
  },
  'AWS::ApiGateway::BasePathMapping': {
    DomainName: onePlace,
    RestApiId: onePlace,
    BasePath: onePlace,
    Stage: onePlace,
  },
  'AWS::ApiGateway::Account': { CloudWatchRoleArn: logging },

  'AWS::Events::EventBus': {
    Name: applied,
    KmsKeyIdentifier: encryption,
    LogConfig: logging,
    DeadLetterConfig: inert('events are not encrypted here, and can all be read'),
    Policy: resourcePolicy,
    Description: tags,
    Tags: tags,
  },
  'AWS::Events::Rule': {
    Name: applied,
    EventBusName: applied,
    EventPattern: applied,
    ScheduleExpression: applied,
    State: oneOf('ENABLED', 'DISABLED'),
    Targets: list(
      object({
        Id: applied,
        Arn: applied,
        Input: applied,
        DeadLetterConfig: object({ Arn: applied }),
        SqsParameters: object({ MessageGroupId: applied }),
        RetryPolicy: inert(
          'a schedule that failed comes round again, and a queue that refuses an event is gone',
        ),
      }),
    ),
    Description: tags,
    Tags: tags,
  },

  ...supportedIdentity,
  ...supportedSite,
};

/** Resource types without meaning on one machine, and why. */
export const inertTypes: Readonly<Record<string, string>> = {
  'AWS::CloudWatch::Alarm': 'there are no metrics here to watch',
  'AWS::CloudWatch::Dashboard': 'there are no metrics here to show',
  'AWS::SNS::TopicPolicy': 'nothing publishes here',
  'AWS::KMS::Alias': 'a name for people',
  'AWS::CodeDeploy::Application': 'what runs here is the code as it is',
  'AWS::CodeDeploy::DeploymentGroup': 'what runs here is the code as it is',
  'AWS::WAFv2::WebACL': 'only this machine calls here',
  'AWS::WAFv2::WebACLAssociation': 'only this machine calls here',
  'AWS::Lambda::LayerVersion': 'what the CDK copies files with, which is not done here',
  'AWS::CDK::Metadata': 'a note from the CDK to AWS',
};
