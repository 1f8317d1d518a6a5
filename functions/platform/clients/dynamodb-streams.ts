import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { terms } from './terms.ts';
import { countThrottles } from './throttles.ts';

export const streamsClient = (): DynamoDBStreamsClient =>
  countThrottles(new DynamoDBStreamsClient(terms()), 'streams');
