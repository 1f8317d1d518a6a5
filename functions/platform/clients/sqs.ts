import { SQSClient } from '@aws-sdk/client-sqs';
import { terms } from './terms.ts';

export const queueClient = (): SQSClient => new SQSClient(terms());
