/** The content cannot be read. Its message is one line in our words, and may be shown to whoever named the source. */
export class ContentProblem extends Error {
  override readonly name = 'ContentProblem';
}
