import { createPrivateKey, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { PRIVATE, PUBLIC, readIfPresent, replaceFile } from 'terminal/files.ts';
import type { Issued } from './certificates.ts';

const RENEWED_BEFORE_END = 30 * 24 * 60 * 60 * 1000;

/** Absolute paths of the PEM files, and the receiver's part of their content. */
export interface CertificateFiles {
  caFile: string;
  receiverCertFile: string;
  receiverKeyFile: string;
  receiver: Issued;
}

/** File names in the directory of the local run. */
export const CERTIFICATE_FILE_NAMES = {
  ca: 'ca.pem',
  caKey: 'ca-key.pem',
  receiver: 'receiver-cert.pem',
  receiverKey: 'receiver-key.pem',
} as const;

/**
 * Reads the authority and the receiver's certificate in `directory`; replaces missing, unreadable or soon
 * expiring ones only, so that an authority stays trusted.
 * @param directory absolute, exists
 */
export async function ensureCertificates(directory: string, now: Date): Promise<CertificateFiles> {
  const path = (name: keyof typeof CERTIFICATE_FILE_NAMES) => join(directory, CERTIFICATE_FILE_NAMES[name]);

  const keptAuthority = await readPair(path('ca'), path('caKey'));
  const keepsAuthority = keptAuthority !== undefined && isUsable(keptAuthority, now);
  const authority = keepsAuthority ? keptAuthority : await makeAuthority(now);
  if (!keepsAuthority) await writePair(path('ca'), path('caKey'), authority);

  const keptReceiver = await readPair(path('receiver'), path('receiverKey'));
  const keepsReceiver =
    keptReceiver !== undefined && isUsable(keptReceiver, now) && isIssuedBy(keptReceiver, authority);
  const receiver = keepsReceiver ? keptReceiver : await makeReceiverCertificate(authority, now);
  if (!keepsReceiver) await writePair(path('receiver'), path('receiverKey'), receiver);

  return {
    caFile: path('ca'),
    receiverCertFile: path('receiver'),
    receiverKeyFile: path('receiverKey'),
    receiver,
  };
}

// The certificate library takes a tenth of a second to load, and most starts issue nothing.
async function makeAuthority(now: Date): Promise<Issued> {
  const { issueAuthority } = await import('./certificates.ts');
  return issueAuthority(now);
}

async function makeReceiverCertificate(authority: Issued, now: Date): Promise<Issued> {
  const { issueReceiverCertificate } = await import('./certificates.ts');
  return issueReceiverCertificate(authority, now);
}

async function readPair(certPath: string, keyPath: string): Promise<Issued | undefined> {
  const [cert, key] = await Promise.all([readIfPresent(certPath), readIfPresent(keyPath)]);
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

async function writePair(certPath: string, keyPath: string, issued: Issued): Promise<void> {
  await replaceFile(keyPath, issued.key, PRIVATE);
  await replaceFile(certPath, issued.cert, PUBLIC);
}

function isUsable(issued: Issued, now: Date): boolean {
  const certificate = parse(issued);
  if (certificate === undefined) return false;
  return Date.parse(certificate.validTo) - now.getTime() > RENEWED_BEFORE_END;
}

function isIssuedBy(issued: Issued, authority: Issued): boolean {
  const certificate = parse(issued);
  const issuer = parse(authority);
  if (certificate === undefined || issuer === undefined) return false;
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** Undefined when the certificate is damaged or does not match the key. */
function parse(issued: Issued): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(issued.cert);
    return certificate.checkPrivateKey(createPrivateKey(issued.key)) ? certificate : undefined;
  } catch {
    return undefined;
  }
}
