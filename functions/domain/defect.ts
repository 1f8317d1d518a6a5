/**
 * What must not happen has happened: a defect of the code, or rows that contradict each other. Its message is written into the log, so that it
 * holds our own words and identifiers and nothing that anybody sent.
 */
export class Defect extends Error {
  override name = 'Defect';
}
