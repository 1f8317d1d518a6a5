import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { prepared } from './prepared.ts';
import { terms } from './terms.ts';

export const documentClient = (): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(prepared(new DynamoDBClient(terms()), 'dynamodb'), {
    marshallOptions: { removeUndefinedValues: true },
  });
