import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { prepared } from './prepared.ts';
import { terms } from './terms.ts';

export const streamsClient = (): DynamoDBStreamsClient =>
  prepared(new DynamoDBStreamsClient(terms()), 'streams');
