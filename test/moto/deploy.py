"""Deploys cloud assemblies of a stage in turn on moto, and prints a line of JSON for each:

    python deploy.py <assembly>...

Moto is a second opinion about references between the stacks, names and parameters. Each patch below says what
moto lacks; a type that it does not have is a stub, whose properties are resolved all the same. What it cannot
do at all: it deletes before it creates, updates what AWS replaces, rolls nothing back, and knows neither
limits nor most of what AWS refuses (`npm run release-check` knows these). It has no IPv6 in a network, so
that `fixedEgress` is left out.
"""

import json
import logging
import os
import pathlib
import sys
import warnings

ACCOUNT, REGION = "123456789012", "us-east-1"
os.environ.update(
    AWS_ACCESS_KEY_ID="x", AWS_SECRET_ACCESS_KEY="x", AWS_DEFAULT_REGION=REGION, MOTO_ACCOUNT_ID=ACCOUNT
)
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

import boto3  # noqa: E402
from moto import mock_aws  # noqa: E402
from moto.apigateway.models import APIGatewayBackend, RestAPI, apigateway_backends  # noqa: E402
from moto.awslambda.models import LambdaVersion, get_backend  # noqa: E402
from moto.cloudformation import models, parsing  # noqa: E402
from moto.core.common_models import CloudFormationModel  # noqa: E402
from moto.events.models import EventBus  # noqa: E402
from moto.kms.models import KmsBackend  # noqa: E402

BUCKET = f"cdk-hnb659fds-assets-{ACCOUNT}-{REGION}"


class Stub(CloudFormationModel):
    """A resource of a type that moto does not have: it has a name and any attribute."""

    # Moto reads the service from it.
    __module__ = "moto.cloudformation.stub"

    def __init__(self, resource_type, name):
        self.cf_resource_type, self.physical_resource_id = resource_type, name

    @classmethod
    def has_cfn_attr(cls, attr):
        return True

    def get_cfn_attribute(self, name):
        is_arn = name.endswith("Arn")
        return f"arn:aws:stub:{REGION}:{ACCOUNT}:{self.physical_resource_id}" if is_arn else name

    def delete(self, account_id, region):
        pass


def patched(owner, name):
    """Replaces a function of moto by one that gets the original first."""

    def replace(function):
        original = getattr(owner, name)
        setattr(owner, name, lambda *args, **kwargs: function(original, *args, **kwargs))
        return function

    return replace


@patched(parsing, "resource_class_from_type")
def class_of(original, resource_type):
    """A table of several regions is not known, and outputs of any unknown type fail."""
    return original(resource_type.replace("::GlobalTable", "::Table")) or Stub


@patched(parsing, "parse_and_create_resource")
def create(original, logical_id, resource, resources, account_id, region_name):
    """What refers to a type that moto does not have fails."""
    if parsing.resource_class_from_type(resource["Type"]) is not Stub:
        return original(logical_id, resource, resources, account_id, region_name)
    properties = parsing.clean_json(resource.get("Properties", {}), resources)
    name = f"{resources['AWS::StackName']}-{logical_id}"
    if resource["Type"] == "AWS::Lambda::Alias":
        alias, function, version = (properties[key] for key in ("Name", "FunctionName", "FunctionVersion"))
        name = get_backend(account_id, region_name).create_alias(alias, function, version, "", None).arn
    stub = Stub(resource["Type"], name)
    stub.logical_resource_id = logical_id
    return stub


@patched(parsing, "parse_and_update_resource")
def update(original, logical_id, resource, resources, account_id, region_name):
    """A resource is lost whose type has no update."""
    if isinstance(resources[logical_id], Stub):
        parsing.clean_json(resource.get("Properties", {}), resources)
        return resources[logical_id]
    return original(logical_id, resource, resources, account_id, region_name) or resources[logical_id]


@patched(KmsBackend, "create_key")
def create_key(original, *args, tags=None, **more):
    """Tags of a template have other names than those of the API."""
    named = [{"TagKey": tag["Key"], "TagValue": tag["Value"]} for tag in tags or ()]
    return original(*args, tags=named, **more)


@patched(RestAPI, "create_from_cloudformation_json")
def import_body(original, name, resource, account_id, region, **more):
    """`Body` is not read."""
    api = original(name, resource, account_id, region, **more)
    document = resource["Properties"]["Body"]
    apigateway_backends[account_id][region].put_rest_api(api.id, document, False, "overwrite")
    return api


@patched(APIGatewayBackend, "put_integration")
def integrate(original, *args, uri=None, integration_method=None, **more):
    """An integration of type MOCK has neither."""
    return original(*args, uri=uri, integration_method=integration_method, **more)


@classmethod
def update_nested(cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name):
    """A nested stack would be deleted and created again."""
    properties = cloudformation_json["Properties"]
    template = models.get_stack_from_s3_url(properties["TemplateURL"], account_id=account_id, partition="aws")
    original_resource.update(template, parameters=properties.get("Parameters", {}))
    return original_resource


models.Stack.update_from_cloudformation_json = update_nested
# `Fn::GetAtt: [Nested, Outputs.Name]`, `Fn::GetAtt: [Version, Version]` and `Ref` of a bus are not known.
models.Stack.get_cfn_attribute = lambda stack, name: stack.output_map[name.removeprefix("Outputs.")].value
LambdaVersion.get_cfn_attribute = lambda version, name: str(version.version)
EventBus.physical_resource_id = property(lambda bus: bus.name)


def upload(s3, assembly):
    for manifest in assembly.glob("*.assets.json"):
        for asset in json.loads(manifest.read_text())["files"].values():
            source = asset["source"]
            is_file = source["packaging"] == "file"
            body = (assembly / source["path"]).read_bytes() if is_file else b"PK\x05\x06" + bytes(18)
            for destination in asset["destinations"].values():
                s3.put_object(Bucket=BUCKET, Key=destination["objectKey"], Body=body)


def resources_in(stack, path):
    """Path, type and name of each resource; without a name it was not created."""
    resources = stack.resource_map
    for logical_id in resources.resources:
        resource = resources._parsed_resources.get(logical_id)
        place = f"{path}/{logical_id}"
        name = getattr(resource, "physical_resource_id", resource and logical_id)
        kind = resources._resource_json_map[logical_id]["Type"]
        yield {"path": place, "type": kind, "name": name, "isStub": isinstance(resource, Stub)}
        if isinstance(resource, models.Stack):
            yield from resources_in(resource, place)


def main(assemblies):
    # Without Docker, in which moto would run functions.
    with mock_aws(config={"lambda": {"use_docker": False}}):
        s3, cloudformation = boto3.client("s3"), boto3.client("cloudformation")
        s3.create_bucket(Bucket=BUCKET)
        version = {"Name": "/cdk-bootstrap/hnb659fds/version", "Type": "String", "Value": "30"}
        boto3.client("ssm").put_parameter(**version)
        deploy = cloudformation.create_stack
        for assembly in map(pathlib.Path, assemblies):
            upload(s3, assembly)
            manifest = json.loads((assembly / "manifest.json").read_text())["artifacts"]
            [stack] = [name for name in manifest if manifest[name]["type"] == "aws:cloudformation:stack"]
            template = (assembly / manifest[stack]["properties"]["templateFile"]).read_text()
            deploy(StackName=stack, TemplateBody=template, Capabilities=["CAPABILITY_NAMED_IAM"])
            stacks = models.cloudformation_backends[ACCOUNT][REGION].stacks.values()
            [deployed] = [candidate for candidate in stacks if candidate.name == stack]
            print(json.dumps(list(resources_in(deployed, stack))))
            deploy = cloudformation.update_stack


main(sys.argv[1:])
