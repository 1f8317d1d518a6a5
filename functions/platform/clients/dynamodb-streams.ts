import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { terms } from './terms.ts';

export const streamsClient = (): DynamoDBStreamsClient => new DynamoDBStreamsClient(terms());
